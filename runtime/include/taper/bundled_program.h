// BundledProgram: a program together with test cases, inputs and the outputs that are expected, in
// ExecuTorch's format (.bpte).
//
//   Result<BundledProgram> bundle = BundledProgram::open(bytes);
//   Module module(bundle->program(), options);
//   for (size_t i = 0; i < bundle->num_cases("forward"); ++i) {
//     const BundledCase test = *bundle->test_case("forward", i);
//     BundledInputs inputs(test);
//     auto outputs = module.forward(inputs.values());
//     for (size_t k = 0; k < test.num_outputs(); ++k) agrees(test.output(k), (*outputs)[k]);
//   }
//
// It is linked only where it is used (taper::devtools).

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

#include "taper/evalue.h"
#include "taper/span.h"
#include "taper/status.h"
#include "taper/tensor.h"

namespace taper {

// One value of the file, which keeps the memory of its spans.
struct BundledValue {
  Tag tag = Tag::kNone;  // kTensor, kInt, kBool or kDouble.
  // Of a tensor. The data has the size that dtype and sizes need.
  ScalarType dtype = ScalarType::kFloat;
  Span<const int32_t> sizes = {};
  Span<const uint8_t> dim_order = {};
  Span<const uint8_t> data = {};
  int64_t integer = 0;  // Of an int or a bool.
  double number = 0;
};

// One call: its inputs, and the outputs that are expected.
class BundledCase {
 public:
  size_t num_inputs() const;
  size_t num_outputs() const;
  // REQUIRES: i is below the number.
  BundledValue input(size_t i) const;
  BundledValue output(size_t i) const;

 private:
  friend class BundledProgram;
  explicit BundledCase(const void* table) : table_(table) {}

  const void* table_;
};

class BundledProgram {
 public:
  // Whether bytes, of which the first 8 suffice, are of such a file.
  static bool is_bundle(Span<const uint8_t> head);

  // Verifies everything but the program itself. `file` must be aligned to 16, and outlive the
  // object and what it returns. Returns kInvalidProgram with the reason, kInvalidArgument if `file`
  // is not aligned.
  static Result<BundledProgram> open(Span<const uint8_t> file);

  // The .pte, aligned to 16.
  Span<const uint8_t> program() const { return program_; }
  // The methods that have test cases.
  size_t num_methods() const;
  // REQUIRES: i < num_methods().
  std::string_view method_name(size_t i) const;
  // 0 for other methods.
  size_t num_cases(std::string_view method) const;
  // Returns kNotFound if there is no such case.
  Result<BundledCase> test_case(std::string_view method, size_t i) const;

 private:
  BundledProgram(const void* root, Span<const uint8_t> program) : root_(root), program_(program) {}
  const void* suite(std::string_view method) const;

  const void* root_;
  Span<const uint8_t> program_;
};

// Copies of a case's inputs, as Method::set_inputs() takes them.
class BundledInputs {
 public:
  explicit BundledInputs(const BundledCase& from);
  BundledInputs(const BundledInputs&) = delete;
  BundledInputs& operator=(const BundledInputs&) = delete;

  Span<const EValue> values() const { return {values_.data(), values_.size()}; }

 private:
  struct Held {
    std::vector<int32_t> sizes, strides;
    std::vector<uint8_t> dim_order;
    std::vector<uint64_t> memory;
    Tensor tensor;
  };

  std::deque<Held> tensors_;
  std::vector<EValue> values_;
};

// ExecuTorch's tolerances: a number may be off by `absolute`, and by `relative` times the expected
// number. Integers and bools must be equal; NaN equals NaN.
struct BundledTolerance {
  double relative = 1e-5, absolute = 1e-8;
};

struct BundledDifference {
  bool agrees = false;
  double largest = 0;         // The largest absolute difference.
  const char* why = nullptr;  // What differs, if it is not the numbers.
};

BundledDifference difference(const BundledValue& expected, const EValue& got,
                             const BundledTolerance& tolerance);

}  // namespace taper
