// The instruction loop. What it relies on was checked when the method was loaded.
//
// It is compiled twice: for execute(), which tells nobody what it does, and for tracers, in an
// object of its own that is linked only where one is used. Tracers see one instruction at a time:
// for them no kernel computes two.

#pragma once

#include "runtime/executor/method_state.h"
#include "runtime/program/wire_access.h"

namespace taper::internal {

// Unbinds all views: their memory is that of the last execution, whose inputs may be gone.
inline void forget_views(MethodState& state) {
  for (uint32_t i = state.first_alias; i != kNoAlias; i = state.instructions[i].next_alias) {
    const Instruction& step = state.instructions[i];
    for (uint8_t a = 0; a < step.kernel->arg_count; ++a) {
      if (step.kernel->args[a].kind != ArgKind::kAliasTensor) continue;
      const ptrdiff_t slot = step.args[a] - state.values;
      if ((state.flags[slot] & kMayBeUnbound) == 0) continue;
      step.args[a]->to_tensor().set_data(nullptr);
    }
  }
}

inline Status prepare(MethodState& state) {
  const size_t inputs = count(state.plan->inputs());
  for (size_t i = 0; i < inputs; ++i) {
    const InputState& input = state.inputs[i];
    TAPER_REQUIRE(input.set, Error::kInvalidState, "an input was never set");
    if (input.tensor != nullptr) *input.slot = EValue(input.tensor);
  }
  const size_t outputs = count(state.plan->outputs());
  for (size_t i = 0; i < outputs; ++i) {
    const Tensor* tensor = state.outputs[i].unplanned;
    TAPER_REQUIRE(tensor == nullptr || tensor->const_data() != nullptr || tensor->capacity() == 0,
                  Error::kInvalidState, "an output that is not planned has no memory");
  }
  forget_views(state);
  return {};
}

inline bool is_unbound(const Tensor& tensor, bool written) {
  const int64_t elements = written ? tensor.capacity() : tensor.numel();
  return tensor.const_data() == nullptr && elements > 0;
}

inline bool is_unbound(const EValue& value, bool written) {
  if (value.is_tensor()) return is_unbound(value.to_tensor(), written);
  if (value.tag() != Tag::kTensorList && value.tag() != Tag::kOptionalTensorList) return false;
  for (const EValue* item : value.list_items()) {
    if (item != nullptr && item->is_tensor() && is_unbound(item->to_tensor(), written)) return true;
  }
  return false;
}

inline constexpr char kUnbound[] = "a tensor is used before it has memory";

inline Status run_checked(KernelContext& context, const Instruction& step) {
  const Kernel& kernel = *step.kernel;
  for (uint8_t i = 0; i < kernel.arg_count; ++i) {
    const ArgKind kind = kernel.args[i].kind;
    if (kind == ArgKind::kAliasTensor) continue;
    const bool written = kind == ArgKind::kMutableTensor || kind == ArgKind::kMutableTensorList;
    TAPER_REQUIRE(!is_unbound(*step.args[i], written), Error::kInvalidProgram, kUnbound);
  }
  return kernel.run(context, step.args);
}

inline Status run_delegate(const MethodState& state, const Instruction& step) {
  for (uint32_t i = 0; i < step.arg_count; ++i) {
    TAPER_REQUIRE(!is_unbound(*step.args[i], true), Error::kInvalidProgram, kUnbound);
  }
  BackendExecutionContext context(text(state.plan->name()), state.temp);
  return step.delegate->backend->execute(context, step.delegate->handle,
                                         {step.args, step.arg_count});
}

// Sets *holds to the value of a condition: a bool, an int that is true if it is not 0, or a bool
// tensor that is true if all elements are. ExecuTorch writes ints for what its prims compare.
inline Status read_condition(const EValue& condition, bool* holds) {
  if (!condition.is_tensor()) {
    *holds = Arg<bool>::get(condition);
    return {};
  }
  const Tensor& tensor = condition.to_tensor();
  TAPER_REQUIRE(!is_unbound(tensor, false), Error::kInvalidProgram, kUnbound);
  const uint8_t* bytes = tensor.const_data_ptr<uint8_t>();
  *holds = true;
  for (int64_t i = 0; i < tensor.numel(); ++i) *holds = *holds && bytes[i] != 0;
  return {};
}

// Hears of nothing, and costs nothing.
struct NoProbe {
  static constexpr bool kJoins = true;  // Whether a kernel may compute two instructions.
  void begin(uint32_t, uint32_t) {}
  void used_temp(const KernelContext&) {}
};

inline const Kernel& kernel_of(const MethodState& state, uint32_t chain, uint32_t instruction) {
  const wire::Instruction& wire =
      *state.plan->chains()->Get(chain)->instructions()->Get(instruction);
  return *state.kernels[wire.instr_args_as_KernelCall()->op_index()];
}

// Runs chain `c`. `budget` is the number of instructions that may still run; `at` becomes the index
// of the instruction that failed. The probe is told before each instruction.
template <typename Probe>
Status run_chain(MethodState& state, uint32_t c, uint64_t* budget, uint32_t* at, Probe& probe) {
  const ChainState& chain = state.chains[c];
  KernelContext& context = state.context;
  const Instruction* const code = chain.first;
  const uint32_t size = chain.size;
  uint64_t left = *budget;
  Status status;
  uint32_t pc = 0;
  while (pc < size) {
    const Instruction& step = code[pc];
    if (left-- == 0) {
      status = Status(Error::kInvalidProgram, "the instruction limit was reached");
      break;
    }
    probe.begin(c, pc);
    switch (step.step) {
      case Step::kKernel:
        status = step.run(context, step.args);
        probe.used_temp(context);
        context.reset_temp();
        break;
      case Step::kJoinedKernels:
        status = Probe::kJoins ? step.run(context, step.args)
                               : kernel_of(state, c, pc).run(context, step.args);
        probe.used_temp(context);
        context.reset_temp();
        if (Probe::kJoins && status.ok()) ++pc;
        break;
      case Step::kCheckedKernel:
        status = run_checked(context, step);
        probe.used_temp(context);
        context.reset_temp();
        break;
      case Step::kDelegate:
        status = run_delegate(state, step);
        break;
      case Step::kMove:
        *step.to = *step.from;
        break;
      case Step::kJumpFalse: {
        bool holds = true;
        status = read_condition(*step.from, &holds);
        if (!holds) {
          pc = step.target;
          continue;
        }
        break;
      }
      case Step::kNothing:
        break;
    }
    if (!status.ok()) break;
    ++pc;
  }
  *budget = left;
  *at = pc;
  return status;
}

// Runs the whole method.
template <typename Probe>
Status run_method(MethodState& state, Probe& probe) {
  state.failure = FailedAt();
  TAPER_TRY(prepare(state));
  uint64_t budget = state.max_instructions;
  const size_t chains = count(state.plan->chains());
  for (size_t i = 0; i < chains; ++i) {
    uint32_t at = 0;
    const Status status = run_chain(state, static_cast<uint32_t>(i), &budget, &at, probe);
    if (status.ok()) continue;
    state.failure = {static_cast<int64_t>(i), at};
    restore_slots(state);
    return status;
  }
  return {};
}

}  // namespace taper::internal
