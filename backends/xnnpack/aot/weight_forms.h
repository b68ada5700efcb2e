// The forms in which XNNPACK's layers take weights of integers.

#pragma once

#include <optional>

#include "backends/xnnpack/aot/payload_writer.h"

namespace taper::xnnpack {

enum class WeightForm {
  kBytes,           // 8 bits, a scale for each channel.
  kHalfBytes,       // 4 bits, a scale for each channel.
  kHalfByteGroups,  // 4 bits, a scale for each group of a row, if the input is quantised by rows.
};

// The form of a matrix [out, in]; nullopt if XNNPACK has no kernel for one that fits.
// `by_rows` says whether the input is quantised at run time, row by row.
std::optional<WeightForm> form_of(const exir::Scales& scales, const Dims& dims, bool by_rows);

// Adds the weights to the payload. REQUIRES: `form` is that of the matrix.
Id add_weights(NodeList& list, const exir::Scales& scales, const Dims& dims, WeightForm form);

}  // namespace taper::xnnpack
