// The method block: counts its parts and lays them out.

#include "runtime/executor/method_state.h"
#include "runtime/program/wire_access.h"
#include "taper/method_meta.h"

namespace taper {
namespace internal {
namespace {

void count_slot(const wire::EValue& slot, Counts* counts) {
  using wire::KernelTypes;
  switch (slot.val_type()) {
    case KernelTypes::Tensor: {
      const wire::Tensor& tensor = *slot.val_as_Tensor();
      const bool dynamic = tensor.shape_dynamism() != wire::TensorShapeDynamism::STATIC;
      counts->tensors += 1;
      counts->dims += uint64_t{tensor.sizes()->size()} * (dynamic ? 2 : 1);
      return;
    }
    case KernelTypes::IntList: {
      const uint64_t size = slot.val_as_IntList()->items()->size();
      counts->int_lists += 1;
      counts->list_ints += size;
      counts->pointers += size;
      return;
    }
    case KernelTypes::TensorList:
    case KernelTypes::OptionalTensorList: {
      const uint64_t size = slot.val_type() == KernelTypes::TensorList
                                ? slot.val_as_TensorList()->items()->size()
                                : slot.val_as_OptionalTensorList()->items()->size();
      counts->tensor_lists += 1;
      counts->list_tensors += size;
      counts->pointers += size;
      return;
    }
    default:
      return;
  }
}

void count_instruction(const wire::Instruction& step, Counts* counts) {
  if (const wire::KernelCall* call = step.instr_args_as_KernelCall()) {
    counts->pointers += count(call->args());
  }
  if (const wire::DelegateCall* call = step.instr_args_as_DelegateCall()) {
    counts->pointers += count(call->args());
  }
}

// Hands out one array after the other from a block, each aligned to 8.
class Carver {
 public:
  explicit Carver(uint8_t* base) : base_(base) {}

  template <typename T>
  void take(uint64_t size, T** out) {
    static_assert(alignof(T) <= 8 && kMethodAlignment % 8 == 0, "parts are aligned to 8");
    uint8_t* const place = take_bytes(size, sizeof(T));
    if (place != nullptr) *out = reinterpret_cast<T*>(place);
  }
  uint64_t used() const { return used_ >= kLimit ? UINT64_MAX : used_; }

 private:
  static constexpr size_t kLimit = SIZE_MAX / 2;

  // Null if only counting. One function for all types, so that its code is not instantiated for
  // each.
  [[gnu::noinline]] uint8_t* take_bytes(uint64_t count, size_t size) {
    uint8_t* const place = base_ == nullptr ? nullptr : base_ + used_;
    const uint64_t bytes = count <= kLimit / size ? (count * size + 7) / 8 * 8 : kLimit;
    used_ = used_ <= kLimit - bytes ? used_ + bytes : kLimit;
    return place;
  }

  uint8_t* base_;
  uint64_t used_ = 0;
};

}  // namespace

Counts count_parts(const wire::ExecutionPlan& plan) {
  Counts counts;
  counts.values = count(plan.values());
  counts.chains = count(plan.chains());
  counts.inputs = count(plan.inputs());
  counts.outputs = count(plan.outputs());
  counts.operators = count(plan.operators());
  counts.delegates = count(plan.delegates());
  for (const wire::EValue* slot : *plan.values()) count_slot(*slot, &counts);
  for (const wire::Chain* chain : *plan.chains()) {
    counts.instructions += chain->instructions()->size();
    for (const wire::Instruction* step : *chain->instructions()) count_instruction(*step, &counts);
  }
  return counts;
}

uint64_t carve(const Counts& counts, uint8_t* base, MethodState* state) {
  MethodState scratch;
  MethodState& s = state == nullptr ? scratch : *state;
  MethodState* self = nullptr;
  Carver carver(base);
  carver.take(1, &self);
  carver.take(counts.values, &s.values);
  carver.take(counts.tensors, &s.tensors);
  carver.take(counts.chains, &s.chains);
  carver.take(counts.instructions, &s.instructions);
  carver.take(counts.inputs, &s.inputs);
  carver.take(counts.outputs, &s.outputs);
  carver.take(counts.operators, &s.kernels);
  carver.take(counts.delegates, &s.delegates);
  carver.take(counts.pointers, &s.pointers);
  carver.take(counts.list_tensors, &s.list_tensors);
  carver.take(counts.list_ints, &s.list_ints);
  carver.take(counts.int_lists, &s.int_lists);
  carver.take(counts.tensor_lists, &s.tensor_lists);
  carver.take(counts.dims, &s.dims);
  carver.take(counts.values, &s.flags);
  return carver.used();
}

}  // namespace internal

namespace {

// The size of a part where pointers have 32 bits (and int64_t is aligned to 8), and where they have
// 64. A part that changes must change here: the assertions below compare with the column of the
// machine that this is compiled for.
struct Part {
  uint64_t on_32_bits, on_64_bits;
};
template <typename T>
constexpr bool is_size_of(Part part) {
  const bool aligned = alignof(int64_t) == 8;  // Not on 32-bit x86, for which there is no column.
  return !aligned || sizeof(T) == (sizeof(void*) == 4 ? part.on_32_bits : part.on_64_bits);
}

constexpr Part kState = {144, 248}, kValue = {16, 16}, kTensor = {40, 56}, kChain = {8, 16},
               kInstruction = {16, 24}, kInput = {24, 32}, kOutput = {8, 16}, kDelegate = {8, 16},
               kIntList = {8, 16}, kTensorList = {8, 16};
static_assert(is_size_of<internal::MethodState>(kState), "not its size here");
static_assert(is_size_of<EValue>(kValue), "not its size here");
static_assert(is_size_of<Tensor>(kTensor), "not its size here");
static_assert(is_size_of<internal::ChainState>(kChain), "not its size here");
static_assert(is_size_of<internal::Instruction>(kInstruction), "not its size here");
static_assert(is_size_of<internal::InputState>(kInput), "not its size here");
static_assert(is_size_of<internal::OutputState>(kOutput), "not its size here");
static_assert(is_size_of<internal::DelegateState>(kDelegate), "not its size here");
static_assert(is_size_of<BoxedIntList>(kIntList), "not its size here");
static_assert(is_size_of<BoxedTensorList>(kTensorList), "not its size here");

constexpr uint64_t padded(uint64_t count, uint64_t size) { return (count * size + 7) / 8 * 8; }

}  // namespace

uint64_t internal::block_bytes(const Counts& c, uint64_t pointer) {
  const auto of = [pointer](Part part) { return pointer == 4 ? part.on_32_bits : part.on_64_bits; };
  return of(kState) + c.values * of(kValue) + c.tensors * of(kTensor) + c.chains * of(kChain) +
         c.instructions * of(kInstruction) + c.inputs * of(kInput) + c.outputs * of(kOutput) +
         padded(c.operators, pointer) + c.delegates * of(kDelegate) + padded(c.pointers, pointer) +
         padded(c.list_tensors, pointer) + c.list_ints * sizeof(int64_t) +
         c.int_lists * of(kIntList) + c.tensor_lists * of(kTensorList) +
         padded(c.dims, sizeof(int32_t)) + padded(c.values, 1);
}

size_t MethodMeta::method_bytes_on_32_bits() const {
  return static_cast<size_t>(internal::block_bytes(internal::count_parts(*plan_), 4));
}

size_t MethodMeta::method_bytes() const {
  const uint64_t bytes = internal::carve(internal::count_parts(*plan_), nullptr, nullptr);
  return bytes > SIZE_MAX ? SIZE_MAX : static_cast<size_t>(bytes);
}

}  // namespace taper
