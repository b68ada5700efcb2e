// The text format of operator cases: kernels_portable/cases/*.txt, written by cases/make.py.
//
//   aten::slice_copy.Tensor_out       the kernel's name, in the first column
//     f32[2,3] 1 2 3 4 5 6            one argument per line, in schema order; a tensor has its
//     int 1                           values in row-major order
//     none
//     int 3
//     int 1
//     -> f32[2,2] 2 3 5 6             the expected outputs, which are the last arguments
//
//   Arguments  f32[1,2,2,2]@0,2,3,1 v v ...  a tensor with a dim order; int 3; float 2.5;
//              bool true; string mean; none; ints 1 2; floats 1.0; bools true; tensors 2 and
//              optional_tensors 2, each followed by that many lines.
//   Results    -> before a value. For a tensor without values, only the sizes are compared.
//   Others     after 0 f32[..] ..    the expected value of argument 0 after the call
//              tolerance 1e-4 1e-6   relative and absolute, instead of those of the dtype
//              refused               the call must return an error
//   Lines that start with # are comments.

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "taper/evalue.h"

namespace taper::test {

struct CaseTensor {
  ScalarType type = ScalarType::kFloat;
  std::vector<int32_t> sizes;
  std::vector<uint8_t> dim_order;
  std::vector<std::string> values;  // Not compared if empty.
};

// One argument or result as text.
struct CaseValue {
  Tag tag = Tag::kNone;
  std::vector<std::string> words;   // For a number, a string or a list of numbers.
  std::vector<CaseTensor> tensors;  // For a tensor or a list of tensors.
  std::vector<bool> present;        // False for a None in `tensors`.
};

struct OpCase {
  std::string kernel;
  int line = 0;
  std::vector<CaseValue> args;
  std::vector<CaseValue> results;
  std::vector<std::pair<size_t, CaseValue>> after;
  double relative = -1;  // If negative, the tolerance of the dtype is used.
  double absolute = -1;
  bool refused = false;
};

// Reads the cases in the file at `path`. On an error, sets `problem` to the line that is wrong.
std::vector<OpCase> read_op_cases(const std::string& path, std::string* problem);

}  // namespace taper::test
