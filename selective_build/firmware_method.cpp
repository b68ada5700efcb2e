// Describes the methods of a verified program. Inputs and outputs come from its MethodMeta; state,
// and the scratch memory that kernels use, from its values and instructions.

#include "selective_build/firmware_method.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "runtime/program/wire_access.h"

namespace taper::select {
namespace {

using internal::items;

const char* c_type(ScalarType type) {
  switch (type) {
    case ScalarType::kFloat:
      return "float";
    case ScalarType::kDouble:
      return "double";
    case ScalarType::kLong:
      return "int64_t";
    case ScalarType::kInt:
      return "int32_t";
    case ScalarType::kShort:
      return "int16_t";
    case ScalarType::kChar:
      return "int8_t";
    case ScalarType::kUInt64:
      return "uint64_t";
    case ScalarType::kUInt32:
      return "uint32_t";
    case ScalarType::kUInt16:
    case ScalarType::kHalf:
    case ScalarType::kBFloat16:
      return "uint16_t";
    default:
      return "uint8_t";
  }
}

// `text` as a C identifier: "encode_2" for "encode-2".
std::string word(std::string text) {
  for (char& c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return text;
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

class Reader {
 public:
  Reader(const Program& program, const wire::ExecutionPlan& plan, const MethodMeta& meta,
         std::vector<std::string>* problems)
      : program_(program), plan_(plan), meta_(meta), problems_(*problems) {}

  FirmwareMethod read() {
    out_.name = meta_.name();
    out_.id = word(out_.name);
    read_inputs();
    read_outputs();
    out_.block_bytes = meta_.method_bytes();
    out_.block_bytes_on_32_bits = meta_.method_bytes_on_32_bits();
    for (size_t i = 0; i < meta_.num_memory_planned_buffers(); ++i) {
      out_.buffers.push_back(*meta_.memory_planned_buffer_size(i));
    }
    find_state();
    find_scratch();
    read_ranges();
    return std::move(out_);
  }

 private:
  void read_inputs() {
    for (size_t i = 0; i < meta_.num_inputs(); ++i) {
      if (*meta_.input_tag(i) != Tag::kTensor) continue;
      out_.inputs.push_back(tensor(i, "input_", *meta_.input_tensor_meta(i)));
    }
  }
  void read_outputs() {
    for (size_t i = 0; i < meta_.num_outputs(); ++i) {
      const Tag tag = *meta_.output_tag(i);
      if (tag == Tag::kNone) continue;
      if (tag == Tag::kTensor) {
        out_.outputs.push_back(tensor(i, "output_", *meta_.output_tensor_meta(i)));
      } else if (tag == Tag::kInt) {
        out_.outputs.push_back(number(i, "int64_t", "an integer", sizeof(int64_t)));
      } else if (tag == Tag::kDouble) {
        out_.outputs.push_back(number(i, "double", "a number", sizeof(double)));
      } else if (tag == Tag::kBool) {
        out_.outputs.push_back(number(i, "uint8_t", "0 or 1", 1));
      } else {
        problems_.push_back("output " + std::to_string(i) + " of " + out_.name +
                            " is neither a tensor nor a number");
      }
    }
  }

  static FirmwarePort tensor(size_t index, const char* what, const TensorInfo& info) {
    FirmwarePort port;
    port.index = index;
    port.name = what + std::to_string(index);
    port.c_type = c_type(info.scalar_type());
    port.text = std::string(to_string(info.scalar_type())) + " (";
    for (const int32_t size : info.sizes()) {
      port.text += (port.text.back() == '(' ? "" : ", ") + std::to_string(size);
    }
    port.text += ")";
    port.rank = info.sizes().size();
    port.dynamic = info.shape_dynamism() != ShapeDynamism::kStatic;
    if (port.dynamic) port.text += " at most";
    port.bytes = info.nbytes();
    return port;
  }
  static FirmwarePort number(size_t index, const char* type, const char* text, size_t bytes) {
    return {index, "output_" + std::to_string(index), type, text, 0, false, bytes};
  }

  void find_state() {
    out_.holds_state.resize(out_.buffers.size());
    for (const wire::EValue* slot : *plan_.values()) {
      const wire::Tensor* tensor = slot->val_as_Tensor();
      if (tensor == nullptr || tensor->allocation_info() == nullptr) continue;
      const wire::ExtraTensorInfo* extra = tensor->extra_tensor_info();
      const bool named = extra != nullptr && !internal::text(extra->fully_qualified_name()).empty();
      if (internal::storage(*tensor) == internal::Storage::kPlanned && !named) continue;
      out_.holds_state[tensor->allocation_info()->memory_id() - 1] = true;
    }
  }

  // Fourier transforms and recurrent layers need scratch memory: for a line of complex doubles, or
  // for as many elements as a layer has units.
  void find_scratch() {
    constexpr uint64_t kMostBytesOfElement = 16;
    for (const wire::Chain* chain : *plan_.chains()) {
      for (const wire::Instruction* step : *chain->instructions()) {
        const wire::KernelCall* call = step->instr_args_as_KernelCall();
        if (call == nullptr) continue;
        const std::string_view name =
            internal::text(plan_.operators()->Get(static_cast<uint32_t>(call->op_index()))->name());
        if (name.find("_fft_") == name.npos && name != "taper::lstm") continue;
        for (const int32_t arg : items(call->args())) {
          const wire::Tensor* tensor =
              plan_.values()->Get(static_cast<uint32_t>(arg))->val_as_Tensor();
          if (tensor == nullptr) continue;
          for (const int32_t size : items(tensor->sizes())) {
            out_.scratch_bytes = std::max(out_.scratch_bytes, size * kMostBytesOfElement);
          }
        }
      }
    }
  }

  // Reads the ranges of sizes, which export stores as named data; see exir/emit/signature.h.
  void read_ranges() {
    const Result<Span<const uint8_t>> data = program_.named_data("taper.signature." + out_.name);
    if (!data.ok()) return;
    std::string line;
    for (const uint8_t byte : *data) {
      if (byte != '\n') {
        line += std::isprint(byte) != 0 ? static_cast<char>(byte) : '?';
        continue;
      }
      out_.ranges.push_back(line);
      line.clear();
    }
  }

  const Program& program_;
  const wire::ExecutionPlan& plan_;
  const MethodMeta& meta_;
  std::vector<std::string>& problems_;
  FirmwareMethod out_;
};

}  // namespace

std::vector<FirmwareMethod> firmware_methods(const Program& program,
                                             std::vector<std::string>* problems) {
  std::vector<FirmwareMethod> methods;
  std::set<std::string> ids;
  const bool several = program.num_methods() > 1;
  for (uint32_t i = 0; i < program.num_methods(); ++i) {
    const Result<MethodMeta> meta = program.method_meta(program.method_name(i));
    if (!meta.ok()) {
      problems->push_back(meta.status().message());
      continue;
    }
    const wire::ExecutionPlan& plan = *program.wire().execution_plan()->Get(i);
    FirmwareMethod method = Reader(program, plan, *meta, problems).read();
    method.prefix = several ? "model_" + method.id + "_" : "model_";
    method.macro = upper(method.prefix);
    if (!ids.insert(method.macro).second) {
      problems->push_back("method " + method.name + " has the same name in C as another; " +
                          "export it under a name of its own: NAME=FILE.pt2");
    }
    methods.push_back(std::move(method));
  }
  return methods;
}

}  // namespace taper::select
