// Weights of integers with scales, as operators of payloads take them.
//
//     constant folding   float32 [n, k] that is stored as int8 with scales
//     here               uint8 [n, k / 2], two elements of 4 bits in a byte, and float32 scales

#pragma once

#include <optional>
#include <vector>

#include "exir/ir/graph.h"

namespace taper::vulkan {

// How a constant matrix is packed.
struct WeightPacking {
  int64_t rows = 0, columns = 0;
  int64_t bits = 8;
  int64_t group = 0;  // Elements of a row that share a scale.

  int64_t row_bytes() const { return bits == 8 ? columns : (columns + 7) / 8 * 4; }
  int64_t groups() const { return (columns + group - 1) / group; }
};

// nullopt for a value that has no scales by row or by group of rows.
std::optional<WeightPacking> packing_of(const exir::Value* weight);

// Whether there is an operator for the packed weights of a linear layer or a table.
bool has_packed_form(const exir::Node& node);

// The weights of a convolution, with a scale for each output channel. nullopt if there are none.
struct PackedWindows {
  std::vector<uint32_t> sizes;  // [out, in / groups, window...], also if it is transposed.
  exir::TensorData bytes, scales;
};
std::optional<PackedWindows> packed_windows(const exir::Value* weight, bool transposed,
                                            int64_t groups);

// Whether a constant of integers that has neither form is stored so, to become floats in each call.
bool stays_integers(const exir::Value* constant);

// Rows of 4 bits are padded to whole words; a byte has the even element in its low half.
exir::TensorData packed_bytes(const exir::Value* weight, const WeightPacking& packing);
// [groups, rows] if `by_column`, otherwise [rows, groups].
exir::TensorData packed_scales(const exir::Value* weight, const WeightPacking& packing,
                               bool by_column);

}  // namespace taper::vulkan
