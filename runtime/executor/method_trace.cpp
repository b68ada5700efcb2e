// Method::execute() for those who want to know where its time goes.

#include "runtime/executor/method_loop.h"
#include "taper/event_tracer.h"

namespace taper {
namespace {

struct TracerProbe {
  static constexpr bool kJoins = false;
  EventTracer& tracer;

  void begin(uint32_t chain, uint32_t instruction) { tracer.begin(chain, instruction); }
  void used_temp(const KernelContext& context) {
    if (context.used_temp() != 0) tracer.used_temp(context.used_temp());
  }
};

}  // namespace

Status Method::execute(EventTracer& tracer) {
  TracerProbe probe = {tracer};
  const Status status = internal::run_method(*state_, probe);
  tracer.end();
  return status;
}

Result<InstructionInfo> Method::instruction(size_t chain, size_t instruction) const {
  const internal::MethodState& state = *state_;
  TAPER_REQUIRE(
      chain < internal::count(state.plan->chains()) && instruction < state.chains[chain].size,
      Error::kInvalidArgument, "there is no such instruction");
  const wire::Instruction& wire = *state.plan->chains()
                                       ->Get(static_cast<uint32_t>(chain))
                                       ->instructions()
                                       ->Get(static_cast<uint32_t>(instruction));
  const internal::Instruction& step = state.chains[chain].first[instruction];
  InstructionInfo info;
  if (const wire::KernelCall* call = wire.instr_args_as_KernelCall()) {
    const auto op = static_cast<size_t>(call->op_index());
    info.op = meta().operator_name(op);
    info.args = {step.args, state.kernels[op]->arg_count};
  } else if (const wire::DelegateCall* call = wire.instr_args_as_DelegateCall()) {
    info.op.name = meta().backend_name(static_cast<size_t>(call->delegate_index()));
    info.args = {step.args, step.arg_count};
    info.is_delegate = true;
  }
  return info;
}

}  // namespace taper
