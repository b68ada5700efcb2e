// The bytes in which kernels take weights of integers, and their scales and zero points.

#pragma once

#include <cstdint>
#include <vector>

#include "exir/ir/graph.h"

namespace taper::exir {

// The bits in which the elements of a matrix are stored: 2 or 4 if they fit, and if groups, or rows
// that are not divided, fill whole bytes for bits_in_groups(), and rows for bits_in_rows().
int64_t bits_in_groups(const Value& weight);
int64_t bits_in_rows(const Value& weight);

// The same for all runs of elements that share a scale.
int64_t bits_in_runs(const Scales& scales);

// The zero points of integers that are stored in so many bits, which have a sign then.
std::vector<float> packed_zero_points(const Scales& scales, int64_t bits);

// [rows, groups] of a matrix. If `is_table` and rows are not divided, [rows].
std::vector<Sym> sizes_of_scales(const Value& weight, bool is_table);
// One number for all is repeated.
std::vector<float> repeated(const std::vector<float>& numbers, const std::vector<Sym>& sizes);

bool fit_bfloat16(const std::vector<float>& numbers);
bool fit_bytes(const std::vector<float>& numbers);  // int8
bool fit_longs(const std::vector<float>& numbers);
TensorData as_floats(const std::vector<float>& numbers);
TensorData as_bfloat16(const std::vector<float>& numbers);
TensorData as_bytes(const std::vector<float>& numbers);
TensorData as_longs(const std::vector<float>& numbers);

}  // namespace taper::exir
