// Goes through the instructions of every method. The runtime's verifier has checked all indices
// before.

#include "selective_build/needs.h"

#include "kernels_portable/engine/promote.h"
#include "runtime/program/wire_access.h"
#include "selective_build/aligned_copy.h"
#include "taper/program.h"

namespace taper::select {
namespace {

using internal::items;

const wire::EValue& slot(const wire::ExecutionPlan& plan, int32_t index) {
  return *plan.values()->Get(static_cast<uint32_t>(index));
}

// The dtypes of a tensor, or of the tensors of a list.
DtypeSet dtypes_of(const wire::ExecutionPlan& plan, const wire::EValue& value) {
  if (const wire::Tensor* tensor = value.val_as_Tensor()) {
    return dtype_bit(internal::scalar_type(*tensor));
  }
  Span<const int32_t> indices;
  if (const wire::TensorList* list = value.val_as_TensorList()) indices = items(list->items());
  if (const auto* list = value.val_as_OptionalTensorList()) indices = items(list->items());
  DtypeSet set = 0;
  for (const int32_t index : indices) {
    if (index < 0) continue;  // The item is None.
    const wire::Tensor* tensor = slot(plan, index).val_as_Tensor();
    if (tensor != nullptr) set |= dtype_bit(internal::scalar_type(*tensor));
  }
  return set;
}

std::string operator_name(const wire::Operator& op) {
  const std::string name(internal::text(op.name()));
  const std::string_view overload = internal::text(op.overload());
  return overload.empty() ? name : name + "." + std::string(overload);
}

class PlanReader {
 public:
  PlanReader(const Program& program, const wire::ExecutionPlan& plan, const std::string& model,
             const PartsOf& parts_of, Needs* needs)
      : program_(program), plan_(plan), model_(model), parts_of_(parts_of), needs_(*needs) {}

  void read() {
    for (const wire::Chain* chain : *plan_.chains()) {
      for (const wire::Instruction* step : *chain->instructions()) {
        ++needs_.instructions[wire::EnumNameInstructionArguments(step->instr_args_type())];
        if (const wire::KernelCall* call = step->instr_args_as_KernelCall()) read_call(*call);
        if (const auto* call = step->instr_args_as_DelegateCall()) {
          ++backend(call->delegate_index()).calls;
        }
      }
    }
    for (uint32_t i = 0; i < internal::count(plan_.delegates()); ++i) {
      BackendNeed& need = backend(static_cast<int32_t>(i));
      need.models.insert(model_);
      const wire::BackendDelegate& delegate = *plan_.delegates()->Get(i);
      const Span<const uint8_t> payload = payload_of(delegate);
      need.payload_bytes += payload.size();
      if (parts_of_ == nullptr) continue;
      need.parts.merge(parts_of_(internal::text(delegate.id()), {payload.data(), payload.size()},
                                 CompileSpecs(delegate.compile_specs())));
    }
  }

 private:
  void read_call(const wire::KernelCall& call) {
    const auto index = static_cast<uint32_t>(call.op_index());
    OperatorNeed& need = needs_.operators[operator_name(*plan_.operators()->Get(index))];
    ++need.calls;
    need.models.insert(model_);
    for (const int32_t arg : items(call.args())) need.dtypes |= dtypes_of(plan_, slot(plan_, arg));
  }

  BackendNeed& backend(int32_t index) {
    const wire::BackendDelegate* delegate = plan_.delegates()->Get(static_cast<uint32_t>(index));
    return needs_.backends[std::string(internal::text(delegate->id()))];
  }

  Span<const uint8_t> payload_of(const wire::BackendDelegate& delegate) const {
    const wire::BackendDelegateDataReference* data = delegate.processed();
    if (data == nullptr) return {};
    if (data->location() == wire::DataLocation::SEGMENT) {
      const Result<Span<const uint8_t>> segment = program_.segment(data->index());
      return segment.ok() ? *segment : Span<const uint8_t>();
    }
    const auto* payloads = program_.wire().backend_delegate_data();
    if (data->index() >= internal::count(payloads)) return {};
    return items(payloads->Get(data->index())->data());
  }

  const Program& program_;
  const wire::ExecutionPlan& plan_;
  const std::string& model_;
  const PartsOf& parts_of_;
  Needs& needs_;
};

// Receives diagnostics and keeps the first: "'forward': an instruction calls an operator that does
// not exist".
struct Problem {
  std::string text;
  static void keep(void* context, const Diagnostic& diagnostic) {
    std::string& text = static_cast<Problem*>(context)->text;
    if (!text.empty()) return;
    text = diagnostic.status.message();
    if (!diagnostic.subject.empty()) text += " (" + std::string(diagnostic.subject) + ")";
  }
};

}  // namespace

std::string add_needs(std::string_view file, const std::string& name, Needs* needs,
                      const PartsOf& parts_of) {
  const AlignedCopy copy(file);
  BufferDataLoader loader(copy.data(), copy.size());
  Problem problem;
  const Result<Program> program = Program::open(loader, {Problem::keep, &problem});
  if (!program.ok()) {
    return name + ": " + (problem.text.empty() ? program.status().message() : problem.text);
  }
  needs->models.push_back(name);
  for (const wire::ExecutionPlan* plan : *program->wire().execution_plan()) {
    PlanReader(*program, *plan, name, parts_of, needs).read();
  }
  return "";
}

}  // namespace taper::select
