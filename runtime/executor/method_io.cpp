// Inputs, outputs and state of a loaded method.

#include <cmath>
#include <cstring>

#include "runtime/executor/method_state.h"
#include "runtime/program/plan_access.h"
#include "runtime/program/wire_access.h"

namespace taper {
namespace {

using internal::InputState;
using internal::OutputState;

bool same_order(Span<const uint8_t> a, Span<const uint8_t> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

Status check_sizes(const Tensor& own, Span<const int32_t> declared, const Tensor& given) {
  for (size_t i = 0; i < declared.size(); ++i) {
    if (own.shape_dynamism() == ShapeDynamism::kStatic) {
      TAPER_REQUIRE(given.sizes()[i] == declared[i], Error::kInvalidArgument,
                    "an input's sizes differ from the declared ones");
    } else {
      TAPER_REQUIRE(given.sizes()[i] <= declared[i], Error::kInvalidArgument,
                    "an input's size exceeds its declared bound");
    }
  }
  return {};
}

Status check_tensor(const InputState& input, Span<const int32_t> declared, const Tensor& given) {
  const Tensor& own = *input.tensor;
  TAPER_REQUIRE(given.scalar_type() == own.scalar_type(), Error::kInvalidType,
                "an input tensor does not have the declared dtype");
  TAPER_REQUIRE(given.dim() == own.dim(), Error::kInvalidArgument,
                "an input tensor does not have the declared rank");
  TAPER_REQUIRE(same_order(given.dim_order(), own.dim_order()), Error::kInvalidArgument,
                "an input tensor does not have the declared dim order");
  TAPER_TRY(check_sizes(own, declared, given));
  const uintptr_t address = reinterpret_cast<uintptr_t>(given.const_data());
  TAPER_REQUIRE(address != 0 || given.numel() == 0, Error::kInvalidArgument,
                "an input tensor has no data");
  TAPER_REQUIRE(address % element_size(given.scalar_type()) == 0 || input.planned,
                Error::kInvalidArgument, "an input tensor's data is not aligned to its elements");
  return {};
}

Status set_tensor(InputState& input, Span<const int32_t> declared, const Tensor& given) {
  TAPER_TRY(check_tensor(input, declared, given));
  Tensor& own = *input.tensor;
  const int64_t capacity = own.capacity();
  own.set_data(own.mutable_data(), input.capacity);
  const Status resized = own.resize(given.sizes());
  if (!resized.ok()) {
    own.set_data(own.mutable_data(), capacity);
    return resized;
  }
  if (!input.planned) {
    own.set_data(const_cast<void*>(given.const_data()), given.numel());
  } else if (given.nbytes() > 0) {
    std::memmove(own.mutable_data(), given.const_data(), given.nbytes());
  }
  return {};
}

uint64_t bits_of(double x) {
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  return bits;
}

// Compares as floats, so that processors without doubles need no double arithmetic for this alone.
bool same_double(double a, double b) {
  const float x = static_cast<float>(a), y = static_cast<float>(b);
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
  if (std::isinf(x) || std::isinf(y)) return bits_of(a) == bits_of(b);
  return std::fabs(x - y) <= 1e-5f * std::fmax(1.0f, std::fabs(x));
}

bool same_value(const EValue& a, const EValue& b) {
  switch (a.tag()) {
    case Tag::kNone:
      return true;
    case Tag::kInt:
      return a.to_int() == b.to_int();
    case Tag::kBool:
      return a.to_bool() == b.to_bool();
    case Tag::kDouble:
      return same_double(a.to_double(), b.to_double());
    case Tag::kString:
      return a.to_string_view() == b.to_string_view();
    default:
      return false;
  }
}

// The argument of a call that explains its failure.
std::string_view message_of(const internal::MethodState& state, const wire::KernelCall& call) {
  const Kernel& kernel = *state.kernels[call.op_index()];
  for (uint32_t i = 0; i < kernel.arg_count; ++i) {
    if (kernel.args[i].kind != ArgKind::kMessage) continue;
    const EValue& text = state.values[call.args()->Get(i)];
    return text.tag() == Tag::kString ? text.to_string_view() : std::string_view();
  }
  return {};
}

}  // namespace

namespace internal {

void describe_inputs_and_outputs(MethodState& state) {
  InputState* input = state.inputs;
  for (int32_t slot : items(state.plan->inputs())) {
    const wire::Tensor* wire = slot_at(*state.plan, slot).val_as_Tensor();
    EValue* value = &state.values[slot];
    Tensor* tensor = wire == nullptr ? nullptr : &value->to_tensor();
    *input++ = {value, tensor, tensor == nullptr ? 0 : tensor->capacity(),
                wire != nullptr && storage(*wire) != Storage::kNone};
  }
  OutputState* output = state.outputs;
  for (int32_t slot : items(state.plan->outputs())) {
    const wire::Tensor* wire = slot_at(*state.plan, slot).val_as_Tensor();
    const bool bindable = wire != nullptr && storage(*wire) == Storage::kNone &&
                          (state.flags[slot] & (kIsInput | kIsAlias | kIsMoved)) == 0;
    EValue* value = &state.values[slot];
    *output++ = {value, bindable ? &value->to_tensor() : nullptr};
  }
}

bool is_read(const MethodState& state, const EValue* slot) {
  for (EValue* const* each = state.pointers; each != state.end_of_pointers; ++each) {
    if (*each == slot) return true;
  }
  for (size_t c = 0; c < state.plan->chains()->size(); ++c) {
    const ChainState& chain = state.chains[c];
    for (const Instruction* step = chain.first; step != chain.first + chain.size; ++step) {
      const bool has_source = step->step == Step::kMove || step->step == Step::kJumpFalse;
      if (has_source && step->from == slot) return true;
    }
  }
  for (size_t i = 0; i < state.plan->outputs()->size(); ++i) {
    if (state.outputs[i].slot == slot) return true;
  }
  return false;
}

}  // namespace internal

bool Method::input_varies(size_t i) const {
  if (i >= num_inputs()) return false;
  const EValue* const slot = state_->inputs[i].slot;
  if (!slot->is_int() && !slot->is_bool() && !slot->is_double()) return false;
  return internal::is_read(*state_, slot);
}

Status Method::set_input(size_t i, const EValue& value) {
  TAPER_REQUIRE(i < num_inputs(), Error::kInvalidArgument, "the method has fewer inputs");
  InputState& input = state_->inputs[i];
  const int32_t slot = state_->plan->inputs()->Get(static_cast<uint32_t>(i));
  const wire::EValue& declared = internal::slot_at(*state_->plan, slot);
  TAPER_REQUIRE(value.tag() == internal::tag_of(declared), Error::kInvalidType,
                "an input is not of the declared kind");
  if (input.tensor != nullptr) {
    TAPER_TRY(
        set_tensor(input, internal::items(declared.val_as_Tensor()->sizes()), value.to_tensor()));
    *input.slot = EValue(input.tensor);
  } else {
    const EValue traced = internal::plain_value(declared);
    TAPER_REQUIRE(traced.tag() == value.tag(), Error::kNotSupported,
                  "inputs that are lists cannot be set");
    const bool same = same_value(traced, value);
    if (!same && !input.varies) input.varies = input_varies(i);
    TAPER_REQUIRE(same || input.varies, Error::kInvalidArgument,
                  "an input differs from the value that export fixed");
    *input.slot = same ? traced : value;
  }
  input.set = true;
  return {};
}

Status Method::set_inputs(Span<const EValue> values) {
  TAPER_REQUIRE(values.size() == num_inputs(), Error::kInvalidArgument,
                "the number of inputs differs from the method's");
  for (size_t i = 0; i < values.size(); ++i) TAPER_TRY(set_input(i, values[i]));
  return {};
}

Status Method::set_output_data(size_t i, void* data, size_t bytes) {
  TAPER_REQUIRE(i < num_outputs(), Error::kInvalidArgument, "the method has fewer outputs");
  const OutputState& output = state_->outputs[i];
  TAPER_REQUIRE(output.slot->is_tensor(), Error::kInvalidType, "this output is not a tensor");
  Tensor* tensor = output.unplanned;
  TAPER_REQUIRE(tensor != nullptr, Error::kInvalidState,
                "the memory of this output is planned by the program");
  const size_t element = element_size(tensor->scalar_type());
  TAPER_REQUIRE(bytes / element >= static_cast<uint64_t>(tensor->capacity()),
                Error::kInvalidArgument, "the memory is too small for this output");
  TAPER_REQUIRE(data != nullptr || tensor->capacity() == 0, Error::kInvalidArgument,
                "an output needs memory");
  TAPER_REQUIRE(reinterpret_cast<uintptr_t>(data) % element == 0, Error::kInvalidArgument,
                "the memory is not aligned to the output's elements");
  tensor->set_data(data);
  return {};
}

Result<EValue> Method::get_output(size_t i) const {
  TAPER_REQUIRE(i < num_outputs(), Error::kInvalidArgument, "the method has fewer outputs");
  const EValue& value = *state_->outputs[i].slot;
  TAPER_REQUIRE(!value.is_tensor() || value.to_tensor().const_data() != nullptr ||
                    value.to_tensor().numel() == 0,
                Error::kInvalidState, "this output has no memory: the method has not run");
  return value;
}

Status Method::reset_state() {
  TAPER_TRY(internal::load_saved_values(*state_));
  for (uint32_t i = 0; i < state_->live_delegates; ++i) {
    const internal::DelegateState& delegate = state_->delegates[i];
    TAPER_TRY(delegate.backend->reset(delegate.handle));
  }
  return {};
}

Result<Tensor*> Method::attribute(size_t i) const {
  Tensor* tensor = state_->tensors;
  for (const wire::EValue* slot : *state_->plan->values()) {
    const wire::Tensor* wire = slot->val_as_Tensor();
    if (wire == nullptr) continue;
    if (internal::is_state(*wire) && i-- == 0) return tensor;
    ++tensor;
  }
  return Status(Error::kInvalidArgument, "the method has no attribute of this index");
}

bool Method::has_state_in_delegates() const {
  for (uint32_t i = 0; i < state_->live_delegates; ++i) {
    const internal::DelegateState& delegate = state_->delegates[i];
    if (delegate.backend->has_state(delegate.handle)) return true;
  }
  return false;
}

ExecutionFailure Method::last_failure() const {
  ExecutionFailure failure;
  failure.chain = state_->failure.chain;
  failure.instruction = state_->failure.instruction;
  if (failure.instruction < 0) return failure;
  const wire::Chain& chain = *state_->plan->chains()->Get(static_cast<uint32_t>(failure.chain));
  const wire::Instruction& step =
      *chain.instructions()->Get(static_cast<uint32_t>(failure.instruction));
  if (const wire::KernelCall* call = step.instr_args_as_KernelCall()) {
    failure.op = meta().operator_name(static_cast<size_t>(call->op_index()));
    failure.message = message_of(*state_, *call);
  } else if (const wire::DelegateCall* call = step.instr_args_as_DelegateCall()) {
    failure.op.name = meta().backend_name(static_cast<size_t>(call->delegate_index()));
  }
  return failure;
}

}  // namespace taper
