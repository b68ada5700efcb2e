// A payload as kernel calls that are ready to run.
//
// build() checks and allocates everything; execute() binds the arguments and runs the calls. Each
// tensor is written by at most one call, before any call reads it, and arguments that are read are
// not written. So a payload cannot make a kernel read what it writes, or uninitialised memory.

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "taper/backend.h"
#include "taper/kernel.h"
#include "test/support/backends/understudy/schema_generated.h"

namespace taper::understudy {

class UnderstudyGraph {
 public:
  // `payload` and the data that `context` finds must outlive the graph. Kernels get `scratch_bytes`
  // of scratch memory plus twice the size of all tensors. Returns kDelegateInvalidCompatibility for
  // a payload that cannot be run, kDelegateMemoryAllocationFailed if its tensors need more than
  // `max_bytes`, or the error from finding named data.
  Status build(Span<const uint8_t> payload, const BackendInitContext& context, uint64_t max_bytes,
               size_t scratch_bytes);

  // Does not allocate. Returns kInvalidArgument if an argument does not match the payload.
  Status execute(Span<EValue* const> args);

 private:
  // A tensor with the arrays that it views.
  struct TensorSlot {
    std::vector<int32_t> sizes, strides;
    std::vector<uint8_t> order;
    Tensor tensor;
    size_t value = 0;
    int32_t argument = -1;  // If not negative, `tensor` only states the expected type.
    bool is_set = false;    // Whether it may be read: an argument, a constant, or already written.
    bool is_written = false;
  };
  struct Call {
    const Kernel* kernel = nullptr;
    std::vector<EValue*> args;
  };

  Status add_value(const wire::Value& value, const BackendInitContext& context);
  Status add_tensor(const wire::Tensor& tensor, const BackendInitContext& context);
  Status shape_tensor(const wire::Tensor& from, TensorSlot& slot) const;
  Status find_constant(const wire::Tensor& from, const BackendInitContext& context,
                       TensorSlot& slot) const;
  Status add_numbers(const wire::Value& value);
  Status add_tensors(const wire::Value& value);
  Status add_call(const wire::Call& call);
  Status note_access(const EValue& arg, bool writes);
  Status note_access(Tensor* tensor, bool writes);
  Status check_arguments();
  Status allocate(uint64_t max_bytes);
  Status bind(TensorSlot& slot, Span<EValue* const> args);

  std::vector<EValue> values_;  // Reserved before values are added, so addresses are stable.
  std::deque<TensorSlot> tensors_;
  std::unordered_map<const Tensor*, TensorSlot*> slots_;
  std::vector<Call> calls_;
  uint32_t arguments_ = 0;
  // Storage for lists.
  std::deque<EValue> items_;
  std::deque<std::vector<EValue*>> pointers_;
  std::deque<std::vector<int64_t>> integers_;
  std::deque<std::vector<Tensor*>> unboxed_;
  std::deque<std::unique_ptr<bool[]>> bools_;
  std::deque<BoxedIntList> int_lists_;
  std::deque<BoxedTensorList> tensor_lists_;
  std::unique_ptr<uint8_t[]> memory_;   // For intermediate tensors.
  std::unique_ptr<uint8_t[]> scratch_;  // For kernels.
  size_t scratch_bytes_ = 0;
};

}  // namespace taper::understudy
