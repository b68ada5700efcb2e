// Reads a .pte's tables with the generated accessors, checking indices and sizes.

#include "tools/pte_summary.h"

#include <algorithm>
#include <cstring>

#include "schema/extended_header.h"
#include "schema/program_generated.h"
#include "taper/scalar_type.h"
#include "tools/error.h"
#include "tools/npy.h"
#include "tools/text/wire_text.h"

namespace taper::tools {
namespace {

using flatbuffers::Vector;

ValueSummary tensor_summary(const wire::Tensor& tensor) {
  ValueSummary result;
  result.kind = "tensor";
  result.dtype = to_string(static_cast<ScalarType>(tensor.scalar_type()));
  for (size_t i = 0; i < count_of(tensor.sizes()); ++i) {
    result.sizes.push_back(tensor.sizes()->Get(static_cast<unsigned>(i)));
  }
  result.dynamic = tensor.shape_dynamism() != wire::TensorShapeDynamism::STATIC;
  for (size_t i = 0; i < count_of(tensor.dim_order()); ++i) {
    result.channels_last |= tensor.dim_order()->Get(static_cast<unsigned>(i)) != i;
  }
  return result;
}

ValueSummary value_summary(const wire::EValue& slot) {
  ValueSummary result;
  result.kind = "none";
  if (slot.val() == nullptr) return result;
  switch (slot.val_type()) {
    case wire::KernelTypes::Tensor:
      return tensor_summary(*slot.val_as_Tensor());
    case wire::KernelTypes::Int:
      return {"int", "", {}, false, false, std::to_string(slot.val_as_Int()->int_val())};
    case wire::KernelTypes::Bool:
      return {"bool", "", {}, false, false, slot.val_as_Bool()->bool_val() ? "True" : "False"};
    case wire::KernelTypes::Double:
      return {"double", "", {}, false, false, std::to_string(slot.val_as_Double()->double_val())};
    case wire::KernelTypes::String:
      return {"string", "", {}, false, false, text_of(slot.val_as_String()->string_val())};
    case wire::KernelTypes::Null:
    case wire::KernelTypes::NONE:
      return result;
    default:
      result.kind = wire::EnumNameKernelTypes(slot.val_type());
      return result;
  }
}

// Reads one method. Checks indices, which the FlatBuffers verifier does not know.
class PlanReader {
 public:
  PlanReader(const wire::Program& program, const wire::ExecutionPlan& plan,
             const DescribeDelegate& describe)
      : program_(program), plan_(plan), describe_(describe) {}

  MethodSummary read() {
    method_.name = text_of(plan_.name());
    method_.values = static_cast<int64_t>(count_of(plan_.values()));
    method_.inputs = slots(plan_.inputs());
    find_varying();
    method_.outputs = slots(plan_.outputs());
    read_instructions();
    read_delegates();
    read_storage();
    return std::move(method_);
  }

 private:
  std::vector<ValueSummary> slots(const Vector<int32_t>* indices) const {
    std::vector<ValueSummary> result;
    for (size_t i = 0; i < count_of(indices); ++i) {
      const auto index = static_cast<uint32_t>(indices->Get(static_cast<unsigned>(i)));
      if (index >= count_of(plan_.values())) throw InputError("an input or output has a bad slot");
      result.push_back(value_summary(*plan_.values()->Get(index)));
    }
    return result;
  }

  // An input that is a number varies if anything reads it; else export has fixed its value.
  void find_varying() {
    for (size_t i = 0; i < method_.inputs.size(); ++i) {
      ValueSummary& input = method_.inputs[i];
      const bool is_number = input.kind == "int" || input.kind == "double" || input.kind == "bool";
      input.varies = is_number && is_read(plan_.inputs()->Get(static_cast<unsigned>(i)));
    }
  }

  bool is_read(int32_t slot) const {
    const auto is_in = [&](const auto* list) {
      return list != nullptr && std::find(list->begin(), list->end(), slot) != list->end();
    };
    if (is_in(plan_.outputs())) return true;
    for (const wire::EValue* value : *plan_.values()) {
      const wire::IntList* list = value->val_as_IntList();
      if (list != nullptr && is_in(list->items())) return true;
    }
    if (plan_.chains() == nullptr) return false;
    for (const wire::Chain* chain : *plan_.chains()) {
      for (unsigned i = 0; i < count_of(chain->instructions()); ++i) {
        const wire::Instruction& step = *chain->instructions()->Get(i);
        const wire::KernelCall* kernel = step.instr_args_as_KernelCall();
        const wire::DelegateCall* delegate = step.instr_args_as_DelegateCall();
        const wire::MoveCall* move = step.instr_args_as_MoveCall();
        const wire::JumpFalseCall* jump = step.instr_args_as_JumpFalseCall();
        if ((kernel != nullptr && is_in(kernel->args())) ||
            (delegate != nullptr && is_in(delegate->args())) ||
            (move != nullptr && move->move_from() == slot) ||
            (jump != nullptr && jump->cond_value_index() == slot)) {
          return true;
        }
      }
    }
    return false;
  }

  std::string operator_at(uint32_t index) const {
    if (index >= count_of(plan_.operators())) throw InputError("an instruction has a bad operator");
    return operator_name(*plan_.operators()->Get(index));
  }

  void read_instructions() {
    if (plan_.chains() == nullptr) return;
    for (const wire::Chain* chain : *plan_.chains()) {
      if (chain->instructions() == nullptr) continue;
      for (const wire::Instruction* instruction : *chain->instructions()) {
        ++method_.instructions;
        ++method_.instruction_kinds[wire::EnumNameInstructionArguments(
            instruction->instr_args_type())];
        const wire::KernelCall* call = instruction->instr_args_as_KernelCall();
        if (call == nullptr) continue;
        ++method_.operators[operator_at(static_cast<uint32_t>(call->op_index()))];
      }
    }
  }

  static std::string spec_text(const wire::CompileSpec& spec) {
    std::string text = text_of(spec.key()) + "=";
    for (unsigned i = 0; i < count_of(spec.value()); ++i) {
      constexpr char kDigits[] = "0123456789abcdef";
      text += kDigits[spec.value()->Get(i) >> 4];
      text += kDigits[spec.value()->Get(i) & 15];
    }
    return text;
  }

  void read_delegates() {
    if (plan_.delegates() == nullptr) return;
    for (const wire::BackendDelegate* delegate : *plan_.delegates()) {
      DelegateSummary summary{text_of(delegate->id()), 0};
      if (const auto* data = delegate->processed()) {
        if (data->location() == wire::DataLocation::INLINE) {
          if (data->index() < count_of(program_.backend_delegate_data())) {
            summary.bytes = count_of(program_.backend_delegate_data()->Get(data->index())->data());
          }
        } else if (data->index() < count_of(program_.segments())) {
          summary.bytes = program_.segments()->Get(data->index())->size();
          summary.segment = data->index();
        }
      }
      for (unsigned i = 0; i < count_of(delegate->compile_specs()); ++i) {
        summary.specs.push_back(spec_text(*delegate->compile_specs()->Get(i)));
      }
      if (describe_) summary.text = describe_(summary, CompileSpecs(delegate->compile_specs()));
      method_.delegates.push_back(summary);
    }
  }

  void read_storage() {
    for (size_t i = 1; i < count_of(plan_.non_const_buffer_sizes()); ++i) {
      method_.arenas.push_back(plan_.non_const_buffer_sizes()->Get(static_cast<unsigned>(i)));
    }
    if (plan_.values() == nullptr) return;
    for (const wire::EValue* slot : *plan_.values()) {
      const wire::Tensor* tensor = slot->val_as_Tensor();
      if (tensor == nullptr) continue;
      const wire::ExtraTensorInfo* extra = tensor->extra_tensor_info();
      const bool external = extra && extra->location() == wire::TensorDataLocation::EXTERNAL;
      if (external) method_.external.push_back(text_of(extra->fully_qualified_name()));
      if (!external && tensor->data_buffer_idx() == 0) continue;
      ++(tensor->allocation_info() ? method_.mutable_buffers : method_.constants);
    }
  }

  const wire::Program& program_;
  const wire::ExecutionPlan& plan_;
  const DescribeDelegate& describe_;
  MethodSummary method_;
};

// The first offset is of the data of no tensor.
uint64_t segment_bytes(const wire::Program& program, const wire::SubsegmentOffsets* offsets) {
  if (offsets == nullptr || count_of(offsets->offsets()) < 2) return 0;
  if (offsets->segment_index() >= count_of(program.segments())) return 0;
  return program.segments()->Get(offsets->segment_index())->size();
}

}  // namespace

PteSummary summarise_pte(std::string_view file, const std::string& name,
                         const DescribeDelegate& describe) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(file.data());
  if (file.size() < wire::kHeadBytes || !wire::ProgramBufferHasIdentifier(bytes)) {
    throw InputError("'" + name + "' is not a .pte (no ET12 at byte 4)");
  }
  PteSummary summary;
  summary.file_bytes = file.size();
  wire::ExtendedHeader header;
  header.program_size = file.size();
  if (wire::read_header(bytes, &header) == wire::HeaderState::kBad) {
    throw InputError("'" + name + "' has a damaged header");
  }
  summary.program_bytes = std::min<uint64_t>(header.program_size, file.size());
  // Alignment is not checked: unlike the runtime, this reader accepts the bytes of a std::string.
  flatbuffers::Verifier verifier(bytes, summary.program_bytes, 64, 1u << 28, false);
  if (!wire::VerifyProgramBuffer(verifier)) {
    throw InputError("'" + name + "' is damaged: its tables fail verification");
  }
  const wire::Program& program = *wire::GetProgram(bytes);
  if (program.execution_plan() != nullptr) {
    for (const wire::ExecutionPlan* plan : *program.execution_plan()) {
      summary.methods.push_back(PlanReader(program, *plan, describe).read());
    }
  }
  if (program.segments() != nullptr) {
    for (const wire::DataSegment* segment : *program.segments()) {
      summary.segment_bytes += segment->size();
    }
  }
  summary.constant_bytes = segment_bytes(program, program.constant_segment());
  if (program.mutable_data_segments() != nullptr) {
    for (const wire::SubsegmentOffsets* offsets : *program.mutable_data_segments()) {
      summary.mutable_bytes += segment_bytes(program, offsets);
    }
  }
  if (program.named_data() != nullptr) {
    for (const wire::NamedData* data : *program.named_data()) {
      const uint32_t at = data->segment_index();
      const bool is_there = at < count_of(program.segments());
      summary.named_data.push_back(
          {text_of(data->key()), is_there ? program.segments()->Get(at)->size() : 0});
    }
  }
  return summary;
}

std::string value_text(const ValueSummary& value) {
  if (value.kind == "tensor") {
    return value.dtype + " " + shape_text(value.sizes) + (value.dynamic ? " at most" : "") +
           (value.channels_last ? " not row-major" : "");
  }
  return value.kind + (value.text.empty() ? "" : " " + value.text) +
         (value.varies ? ", varies" : "");
}

}  // namespace taper::tools
