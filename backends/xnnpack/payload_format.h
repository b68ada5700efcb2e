// What both halves agree on about a payload beyond schema.fbs: its identifiers, and Taper's
// extensions.

#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/xnnpack/schema_generated.h"

namespace taper::xnnpack {

// The identifier of a payload that contains any of Taper's extensions. ExecuTorch's runtime accepts
// only XN00 and XN01, so it refuses such a payload at once; ExecuTorch's exporter never writes it.
inline constexpr char kTaperIdentifier[] = "XT01";

// Whether a node kind is Taper's own, numbered from 200 on. ExecuTorch numbers its kinds from 1 on,
// so kinds that it adds later get numbers below these.
constexpr bool is_taper_kind(wire::NodeContent kind) { return kind >= wire::NodeContent::Swish; }

// The most dimensions of a value: XNNPACK's limit.
inline constexpr size_t kMaxRank = 6;

// The kind of node that concatenates `count` values, from 2 to 5.
inline constexpr size_t kMostConcatenated = 5;
constexpr wire::NodeContent concatenation_of(size_t count) {
  constexpr wire::NodeContent kKinds[] = {
      wire::NodeContent::Concatenate2, wire::NodeContent::Concatenate3,
      wire::NodeContent::Concatenate4, wire::NodeContent::Concatenate5};
  return kKinds[count - 2];
}

constexpr bool is_concatenation(wire::NodeContent kind) {
  for (size_t count = 2; count <= kMostConcatenated; ++count) {
    if (kind == concatenation_of(count)) return true;
  }
  return false;
}

// An extension of Tensor: with this flag, a constant that its type calls QCINT4 is computed with as
// int8, since XNNPACK has no form of four bits for it.
inline constexpr uint32_t kHalfBytesFlag = 1 << 16;

// An extension of GlobalAvgPool2d: with this flag it computes the sum of the pixels, not the mean.
inline constexpr uint32_t kSumFlag = 1 << 16;

}  // namespace taper::xnnpack
