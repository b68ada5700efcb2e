// The slots that a kernel reads its arguments from and writes its results to, made from an operator
// case.

#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "taper/evalue.h"
#include "test/support/op_case_file.h"
#include "test/support/test_tensor.h"

namespace taper::test {

// Whether outputs have their final sizes, or larger dynamic ones that shrink.
enum class CaseOutputs { kExact, kLarger };

// Owns everything that the slots refer to. The memory of each tensor has exactly its size. `c` must
// outlive it.
class CaseSlots {
 public:
  CaseSlots(const OpCase& c, CaseOutputs outputs);
  CaseSlots(const CaseSlots&) = delete;
  CaseSlots& operator=(const CaseSlots&) = delete;

  // Arguments, then results, each in schema order.
  std::vector<EValue*> slots;
  // All tensors among them, including those in lists.
  std::vector<Tensor*> tensors;

 private:
  Tensor* make_tensor(const CaseTensor& text, bool output);
  EValue* make_list(const CaseValue& text, bool output);
  EValue* make_ints(const CaseValue& text);
  EValue* make(const CaseValue& text, bool output);

  const CaseOutputs outputs_;
  std::deque<EValue> values_;
  std::deque<TestTensor> owners_;
  std::deque<std::vector<EValue*>> pointers_;
  std::deque<std::vector<Tensor*>> tensor_scratch_;
  std::deque<std::vector<int64_t>> ints_;
  std::deque<std::vector<double>> doubles_;
  std::deque<std::unique_ptr<bool[]>> bools_;
  std::deque<std::string> strings_;
  std::deque<BoxedIntList> int_lists_;
  std::deque<BoxedTensorList> tensor_lists_;
};

}  // namespace taper::test
