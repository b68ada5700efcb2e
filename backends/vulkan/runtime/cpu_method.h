// A graph on the processor, where there is no GPU or not enough memory of one: each call goes to
// the kernel that its operator's row names. The kernels are those of the application.
//
// Everything is checked and allocated by load(). Each tensor is written by one call, before any
// call reads it, so that a payload cannot make a kernel read what it writes, or memory that nobody
// has set. Inputs are read where they are; outputs are copied at the end.

#pragma once

#include <cstdlib>
#include <deque>
#include <memory>
#include <vector>

#include "backends/vulkan/planner/operators.h"
#include "backends/vulkan/planner/plan.h"
#include "backends/vulkan/runtime/executable.h"
#include "taper/kernel.h"

namespace taper::vulkan {

struct CpuOptions {
  const BackendInitContext* context = nullptr;
  uint64_t max_bytes = 0;
  bool reports = false;  // Missing kernels, to the context by name.
  bool rounds = false;   // Factors of products to float16, as a GPU does that is asked for it.
};

class CpuMethod final : public Executable {
 public:
  // What the payload refers to must outlive this. Returns kOperatorMissing if the application lacks
  // kernels; kDelegateMemoryAllocationFailed if tensors would take more than `max_bytes`.
  Status load(Span<const uint8_t> payload, const ConstantSource& source, const CpuOptions& options);

  // Allocates nothing.
  Status execute(BackendExecutionContext& context, Span<EValue* const> args) override;
  Status reset() override;
  bool has_states() const override;
  void tell_memory(MemoryListener& listener) const override;

 private:
  // A tensor with the arrays that it views, and where it lies.
  struct TensorSlot {
    int32_t sizes[Dims::kMaxRank] = {}, strides[Dims::kMaxRank] = {};
    uint8_t order[Dims::kMaxRank] = {};
    Tensor tensor;
    bool is_set = false;  // May be read: an input, a constant, or written by now.
    uint32_t first = 0, last = 0;
  };
  struct KernelCall {
    const PayloadCall* from = nullptr;
    const Kernel* kernel = nullptr;  // Null: arithmetic with sizes.
    std::vector<EValue*> args;
  };
  // What a call has written becomes what a state holds when the call is done: until then the kernel
  // may read the state.
  struct NewState {
    uint32_t call;
    ValueId state, contents;
  };

  Status make_slots();
  void make_slot(ValueId id, const PayloadValue& value);
  Status set_constant(TensorSlot& slot, const PayloadValue& value);
  Status add_call(const PayloadCall& from, const BackendInitContext& context);
  ScalarType dtype_of_integers(const PayloadCall& call) const;
  Status add_clamp(const PayloadCall& from, EValue& result);
  Status add_made(ValueId like, KernelCall& call, EValue*& made);
  Status add_scaling(const PayloadCall& from, EValue*& scaled);
  Status add_rounding(const PayloadCall& from, EValue* (&rounded)[Operator::kMostFactors]);
  bool is_rounding() const;
  void add_storing(const PayloadCall& from);
  Status find_kernel(const PayloadCall& from, const BackendInitContext& context,
                     const Kernel*& kernel) const;
  Status add_argument(KernelCall& call, ValueId id);
  Status add_results(KernelCall& call);
  EValue* result_slot(ValueId id);
  EValue* argument(ArgSpec spec, ValueId id);
  EValue* number(ArgKind kind, ValueId id);
  EValue* integers(const PayloadValue& value);
  EValue* doubles(const PayloadValue& value);
  EValue* bools(const PayloadValue& value);
  EValue* tensors(ArgKind kind, const PayloadValue& value);
  Status note_access(const EValue& arg, bool writes);
  Status note_tensor(ValueId id, bool writes);
  Status allocate(uint64_t max_bytes);
  Status bind_input(ValueId id, EValue& arg);
  Status compute_size(const KernelCall& call);

  PayloadGraph graph_;
  Plan plan_;
  ThreadPool pool_;
  // Of tensors and sizes, by id; after those of the graph, what is written to states, then factors
  // that are made for a kernel.
  std::vector<EValue> values_;
  std::vector<TensorSlot> slots_;
  std::vector<NewState> new_states_;  // In order.
  size_t next_extra_ = 0;
  std::vector<KernelCall> calls_;
  uint32_t call_ = 0;  // The one that is added.
  bool reports_ = false;
  // What arguments are made of.
  std::deque<EValue> items_;
  std::deque<std::vector<EValue*>> pointers_;
  std::deque<std::vector<int64_t>> integers_;
  std::deque<std::vector<double>> doubles_;
  std::deque<std::vector<Tensor*>> unboxed_;
  std::deque<std::unique_ptr<bool[]>> bools_;
  std::deque<BoxedIntList> int_lists_;
  std::deque<BoxedTensorList> tensor_lists_;
  std::deque<std::vector<uint64_t>> copies_;  // Of states, and of constants that are not aligned.
  uint64_t arena_bytes_ = 0;
  std::vector<PlacedResult> placed_;  // In the arena.
  // Pages of it that no call has written yet take no memory.
  std::unique_ptr<void, void (*)(void*)> arena_{nullptr, std::free};
};

}  // namespace taper::vulkan
