// Constants that are stored as integers with scales. They stay integers from constant folding to
// the payload of a backend or the arguments of a kernel; who needs their elements computes them
// here.

#pragma once

#include "exir/ir/graph.h"

namespace taper::exir {

// The elements of a constant, dense. They are computed at each call if it is stored as integers.
TensorData elements_of(const Value& constant);
TensorData elements_of(const Scales& scales);

// The integers of a constant, or its codes; null if it has neither.
inline const std::shared_ptr<const Scales>& bytes_of(const Value& constant) {
  return constant.scales != nullptr ? constant.scales : constant.codes;
}

// A constant of integers, whose elements are not computed. REQUIRES: sizes that fit.
Value* new_constant(Graph& graph, std::string_view hint, TensorType type,
                    std::shared_ptr<const Scales> scales);

// How many bits the integers take: 2, 4 or 8.
int64_t bits_of(const TensorData& integers, ScalarType dtype);

// Whether the zero points are all 0 and the integers int8, as most kernels of processors want.
bool is_symmetric(const Scales& scales);

// How often the scales repeat: once if each run of elements has its own. 0 if the elements end
// within a round, or if there are none.
size_t rounds_of(const Scales& scales);

// Whether there is one scale, or one for each index of a dimension.
bool is_along(const Scales& scales, const TensorType& type, size_t dim);

// For a matrix: how many elements of a row share a scale, each row having its own; the length of a
// row if there is one scale for all. 0 if the scales have another form.
int64_t group_of(const Scales& scales, const TensorType& type);

// A matrix with its dimensions exchanged. Null if its rows have groups.
std::shared_ptr<const Scales> transposed(const Scales& scales, const TensorType& type);

// Which of two elements of four bits a byte has in its upper half.
enum class NibbleOrder : uint8_t { kLowFirst, kHighFirst };

// The elements in another order: number n is number order[n] of those of `scales`, which may leave
// some out. Elements side by side that have one scale share it, and what repeats is stored once.
std::shared_ptr<const Scales> reordered(const Scales& scales, const std::vector<size_t>& order);

// Rows of 4 bits have two elements in a byte, each plus 8; rows of 2 bits four, the first lowest,
// each plus 2. The last byte of a row is filled with zeros.
TensorData packed_rows(const Scales& scales, int64_t rows, int64_t columns, int64_t bits,
                       NibbleOrder order);

// Elements that are codes of numbers of a table (Value::codes), or integers without zero points, as
// taper::look_up takes them: several in a byte, the first lowest, if runs are of whole bytes. The
// table has the numbers of each byte.
struct CodedBytes {
  TensorData bytes;
  int64_t each = 1;          // Numbers of a byte.
  std::vector<float> table;  // [256, each]
};
CodedBytes coded_bytes(const Scales& scales);

}  // namespace taper::exir
