// What both halves agree on about a payload beyond schema.fbs: its identifiers, and which of what
// it may hold is Taper's own.

#pragma once

#include <cstdint>

#include "backends/xnnpack/schema_generated.h"

namespace taper::xnnpack {

// The identifier of a payload that holds anything of Taper's own. ExecuTorch's runtime knows XN00
// and XN01 alone and refuses this one before it reads on; what ExecuTorch writes never has it.
inline constexpr char kTaperIdentifier[] = "XT01";

// Node kinds of Taper's own, numbered from 200 on. ExecuTorch numbers its kinds from 1 on, so what
// it adds later gets a number below these.
constexpr bool is_taper_kind(wire::NodeContent kind) { return kind >= wire::NodeContent::Swish; }

// A flag of GlobalAvgPool2d, Taper's own: the pixels are added up, without a division.
inline constexpr uint32_t kSumFlag = 1 << 16;

}  // namespace taper::xnnpack
