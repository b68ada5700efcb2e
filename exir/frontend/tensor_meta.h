// Converts a tensor's metadata in an exported program: dtype codes to ScalarType, strides to an
// order of dimensions.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "exir/ir/sym.h"
#include "taper/scalar_type.h"

namespace taper::exir {

// The most dimensions that a tensor in a file may have.
constexpr size_t kHighestRank = 64;

// The dtype with this code in the file; 8-bit floats are bytes (exir/ops/float8.h). Throws Failure
// naming the dtype ("complex32") if it is not supported or complex.
ScalarType import_dtype(int64_t code);

// The dtype of the real and imaginary parts if the code is that of a complex dtype, else nullopt.
std::optional<ScalarType> complex_part(int64_t code);
// complex_part() if the dtype is complex, else import_dtype().
ScalarType import_part_dtype(int64_t code);
// Converts a stride that counts complex numbers to one that counts their parts. Throws Failure if
// it overflows.
int64_t doubled(int64_t stride);

// The order of dimensions, outermost first, in which a tensor of these sizes and strides is dense;
// nullopt if there is none. Dimensions of size 1 do not matter, so several orders may fit:
// contiguous comes first, then channels last.
std::optional<std::vector<uint8_t>> dense_order(const std::vector<int64_t>& sizes,
                                                const std::vector<int64_t>& strides);
// The same for symbolic sizes; `hints`, the strides at the sample inputs, suggest an order to try.
std::optional<std::vector<uint8_t>> dense_order(const std::vector<Sym>& sizes,
                                                const std::vector<Sym>& strides,
                                                const std::vector<int64_t>& hints);

}  // namespace taper::exir
