// What an exported program writes about a tensor, in our terms: element types, and strides as an
// order of dimensions.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "exir/ir/sym.h"
#include "taper/scalar_type.h"

namespace taper::exir {

// More dimensions than any tensor has.
constexpr size_t kHighestRank = 64;

// The type of that number in the file; throws Failure naming one that we lack ("complex64").
ScalarType import_dtype(int64_t code);

// The real type that complex numbers of that type come in pairs of; nullopt if it is not complex.
std::optional<ScalarType> complex_part(int64_t code);
// The type of that number, or of the parts if it is complex.
ScalarType import_part_dtype(int64_t code);
// Twice a stride: of complex numbers to one of their parts. Throws Failure if it overflows.
int64_t doubled(int64_t stride);

// The order of dimensions, outermost first, in which a tensor of these sizes and strides is dense;
// nullopt if there is none. Dimensions of size 1 do not matter, so several orders may fit:
// contiguous comes first, then channels last.
std::optional<std::vector<uint8_t>> dense_order(const std::vector<int64_t>& sizes,
                                                const std::vector<int64_t>& strides);
// With symbols; `hints` are strides at the sample inputs and suggest an order.
std::optional<std::vector<uint8_t>> dense_order(const std::vector<Sym>& sizes,
                                                const std::vector<Sym>& strides,
                                                const std::vector<int64_t>& hints);

}  // namespace taper::exir
