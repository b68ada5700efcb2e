// Recognises layers of bytes that torchao spells by aten::_int_mm:
//
//     %u = cast(cast(%q, int32) + 128, uint8)        %p = aten::_int_mm(%u, %w) - 128 * sums of %w
//     %y = (cast(%p, float32) * %s - cast(%z, float32) * %s * sums of %w) * %f
//
// where %q is int8, %s and %z have a scale and a zero point for each row or one for all, %f has a
// factor for each column or one for all, and %w is a constant. %q may also be multiplied as it is,
// and %z may be missing.

#pragma once

#include <optional>

#include "exir/ir/graph.h"

namespace taper::exir {

struct ByteProduct {
  Value* integers = nullptr;     // int8 [rows, k]
  Value* scales = nullptr;       // [rows, 1] or [1, 1]
  Value* zero_points = nullptr;  // The same sizes; null if all are zero.
  Value* weights = nullptr;      // A constant int8 [k, n].
  Value* factors = nullptr;      // A constant of n elements or one.
};

// The layer whose result is that of `node`, the last product; nullopt if it is none.
std::optional<ByteProduct> byte_product_of(const Node& node);

// What a chain of changes of sizes starts from.
Value* before_views(Value* value);

}  // namespace taper::exir
