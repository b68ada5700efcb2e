// The text of operator cases: kernels_portable/cases/*.txt, written by cases/make.py.
//
//   aten::slice_copy.Tensor_out       the kernel's name, in the first column
//     f32[2,3] 1 2 3 4 5 6            one argument a line, in schema order; here a tensor, with its
//     int 1                           values in row-major order
//     none
//     int 3
//     int 1
//     -> f32[2,2] 2 3 5 6             what the missing last arguments, the outputs, must hold
//
//   Arguments  f32[1,2,2,2]@0,2,3,1 v v ...  a tensor with a dim order; int 3; float 2.5; bool true;
//              string mean; none; ints 1 2; floats 1.0; bools true; tensors 2 and optional_tensors 2,
//              each followed by that many lines.
//   Results    -> before an argument. A tensor without values is compared by its sizes alone.
//   Others     after 0 f32[..] ..    argument 0 must hold this after the call
//              tolerance 1e-4 1e-6   relative and absolute, in place of those of the dtype
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
  std::vector<std::string> values;  // Empty: not compared.
};

// One argument or result, as text says it.
struct CaseValue {
  Tag tag = Tag::kNone;
  std::vector<std::string> words;   // Of a number, a string or a list of numbers.
  std::vector<CaseTensor> tensors;  // One of a tensor, all of a list.
  std::vector<bool> present;        // False for a None in `tensors`.
};

struct OpCase {
  std::string kernel;
  int line = 0;
  std::vector<CaseValue> args;
  std::vector<CaseValue> results;
  std::vector<std::pair<size_t, CaseValue>> after;
  double relative = -1;  // Negative: the tolerance of the dtype.
  double absolute = -1;
  bool refused = false;
};

// The cases of the file at `path`. On a mistake, `problem` says which line is wrong.
std::vector<OpCase> read_op_cases(const std::string& path, std::string* problem);

}  // namespace taper::test
