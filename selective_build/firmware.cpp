// model.h, model.cpp, program.cpp, kernels.cpp, and sources.txt: what else to compile.

#include "selective_build/firmware.h"

#include <algorithm>

#include "selective_build/aligned_copy.h"
#include "selective_build/write_table.h"
#include "taper/program.h"

namespace taper::select {
namespace {

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

struct Port {
  size_t index = 0;
  TensorInfo info{nullptr};

  std::string name(const char* what) const { return what + std::to_string(index); }
  std::string type_text() const {
    std::string text = std::string(to_string(info.scalar_type())) + " (";
    for (size_t d = 0; d < info.sizes().size(); ++d) {
      text += (d == 0 ? "" : ", ") + std::to_string(info.sizes()[d]);
    }
    return text + ")";
  }
};

template <typename Items>
std::string numbers(const Items& items) {
  std::string text = "{";
  for (const auto item : items) text += (text.size() > 1 ? ", " : "") + std::to_string(item);
  return (text.size() == 1 ? "{0" : text) + "}";
}

class Writer {
 public:
  Writer(std::string_view pte, const Selection& selection, const MethodMeta& meta)
      : pte_(pte), selection_(selection), meta_(meta) {}

  FirmwareFiles run() {
    take_inputs();
    take_outputs();
    if (!out_.problems.empty()) return std::move(out_);
    out_.files = {{"model.h", header()},
                  {"model.cpp", source()},
                  {"program.cpp", program()},
                  {"kernels.cpp", table_source(selection_, {})},
                  {"sources.txt", sources()}};
    return std::move(out_);
  }

 private:
  void take_inputs() {
    for (size_t i = 0; i < meta_.num_inputs(); ++i) {
      if (*meta_.input_tag(i) != Tag::kTensor) continue;
      take(Port{i, *meta_.input_tensor_meta(i)}, "input ", &inputs_);
    }
  }
  void take_outputs() {
    for (size_t i = 0; i < meta_.num_outputs(); ++i) {
      if (*meta_.output_tag(i) == Tag::kTensor) {
        take(Port{i, *meta_.output_tensor_meta(i)}, "output ", &outputs_);
      } else if (*meta_.output_tag(i) != Tag::kNone) {
        out_.problems.push_back("output " + std::to_string(i) + " is no tensor");
      }
    }
  }
  void take(const Port& port, const char* what, std::vector<Port>* ports) {
    if (port.info.shape_dynamism() != ShapeDynamism::kStatic) {
      out_.problems.push_back(port.name(what) + ", " + port.type_text() +
                              ", has sizes that change; export with fixed sizes");
    }
    ports->push_back(port);
  }

  // "const float* input_0, float* output_0"
  std::string parameters() const {
    std::string text;
    for (const Port& port : inputs_) {
      text += (text.empty() ? "" : ", ") + std::string("const ") + c_type(port.info.scalar_type()) +
              "* " + port.name("input_");
    }
    for (const Port& port : outputs_) {
      text += (text.empty() ? "" : ", ") + std::string(c_type(port.info.scalar_type())) + "* " +
              port.name("output_");
    }
    return text.empty() ? "void" : text;
  }

  static std::string bytes_of(const std::vector<Port>& ports) {
    std::vector<size_t> bytes;
    for (const Port& port : ports) bytes.push_back(port.info.nbytes());
    return numbers(bytes);
  }

  std::string header() const {
    std::string out =
        "// A model, made by `taper export --format=c`. No heap, no files, no system.\n\n"
        "#pragma once\n\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
    for (const Port& port : inputs_) {
      out += "// input_" + std::to_string(port.index) + ": " + port.type_text() + "\n";
    }
    for (const Port& port : outputs_) {
      out += "// output_" + std::to_string(port.index) + ": " + port.type_text() + "\n";
    }
    out += "#define MODEL_INPUTS " + std::to_string(inputs_.size()) + "\n#define MODEL_OUTPUTS " +
           std::to_string(outputs_.size()) + "\n#define MODEL_INPUT_BYTES " + bytes_of(inputs_) +
           "\n#define MODEL_OUTPUT_BYTES " + bytes_of(outputs_) + "\n\n";
    out += "// Memory that is taken besides the program of " + std::to_string(pte_.size()) +
           " bytes, to the\n// byte: what the planner laid out, and the method's block.\n" +
           "#define MODEL_ARENA_BYTES " + std::to_string(arena_bytes()) +
           "\n#if UINTPTR_MAX == UINT32_MAX\n#define MODEL_BLOCK_BYTES " +
           std::to_string(meta_.method_bytes_on_32_bits()) + "\n#else\n#define MODEL_BLOCK_BYTES " +
           std::to_string(meta_.method_bytes()) + "\n#endif\n\n";
    out +=
        "// Verifies the program and binds its kernels, once; model_run() does it when needed.\n"
        "// 0, or a code of taper/taper.h.\n"
        "int32_t model_init(void);\n"
        "int32_t model_run(" +
        parameters() +
        ");\n"
        "// The same with all pointers in two arrays.\n"
        "int32_t model_run_all(const void* const* inputs, void* const* outputs);\n"
        "// The model's state as it was at first.\n"
        "int32_t model_reset(void);\n\n"
        "#ifdef __cplusplus\n}\n#endif\n";
    return out;
  }

  uint64_t arena_bytes() const {
    uint64_t bytes = 0;
    for (size_t i = 0; i < meta_.num_memory_planned_buffers(); ++i) {
      bytes += *meta_.memory_planned_buffer_size(i);
    }
    return bytes;
  }

  // Only Fourier transforms take scratch: a line of complex doubles.
  uint64_t temp_bytes() const {
    bool fourier = false;
    for (const SelectedKernel& each : selection_.kernels) {
      fourier |= std::string_view(each.kernel.name).find("_fft_") != std::string_view::npos;
    }
    return fourier ? std::max<uint64_t>(arena_bytes(), 1024) * 4 : 0;
  }

  std::string memory() const {
    std::string out = "alignas(16) unsigned char block[MODEL_BLOCK_BYTES];\n", spans;
    for (size_t i = 0; i < meta_.num_memory_planned_buffers(); ++i) {
      const uint64_t bytes = *meta_.memory_planned_buffer_size(i);
      const std::string name = "buffer_" + std::to_string(i + 1);
      if (bytes != 0) {
        std::string place = "MODEL_BUFFER_" + std::to_string(i + 1);
        out += "#ifndef " + place +
               "  // Where it lies: __attribute__((section(\".sram\")))\n#define " + place +
               "\n#endif\nalignas(16) " + place + " unsigned char " + name + "[" +
               std::to_string(bytes) + "];\n";
      }
      spans += std::string(spans.empty() ? "" : ", ") + "{" + (bytes == 0 ? "block" : name) + ", " +
               std::to_string(bytes) + "}";
    }
    if (temp_bytes() != 0) {
      out += "alignas(64) unsigned char scratch[" + std::to_string(temp_bytes()) + "];\n";
    }
    const bool planned = meta_.num_memory_planned_buffers() != 0;
    out +=
        "\nStatus load() {\n"
        "  BufferDataLoader* loader = new (loader_memory) BufferDataLoader(model_program, "
        "model_program_bytes);\n"
        "  Result<Program> opened = Program::open(*loader);\n"
        "  if (!opened.ok()) return opened.status();\n"
        "  Program* program = new (program_memory) Program(*opened);\n";
    if (planned) out += "  static const Span<uint8_t> planned[] = {" + spans + "};\n";
    out += "  const MemoryManager memory = {{block, sizeof(block)}, HierarchicalAllocator(" +
           std::string(planned ? "planned" : "Span<const Span<uint8_t>>()") + "), " +
           (temp_bytes() != 0 ? "{scratch, sizeof(scratch)}" : "{}") + "};\n";
    return out;
  }

  std::string loading() const {
    return "  const KernelTable tables[] = {selected_kernels()};\n"
           "  MethodOptions options;\n"
           "  options.kernels = tables;\n"
           "  Result<Method> loaded = Method::load(*program, \"" +
           std::string(meta_.name()) +
           "\", memory, options);\n"
           "  if (!loaded.ok()) return loaded.status();\n"
           "  Method* made = new (method_memory) Method(std::move(*loaded));\n"
           "  const MethodMeta meta = made->meta();\n"
           "  for (size_t i = 0; i < meta.num_inputs(); ++i) {\n"
           "    if (*meta.input_tag(i) == Tag::kTensor) continue;\n"
           "    TAPER_TRY(made->set_input(i, *meta.input_value(i)));\n"
           "  }\n"
           "  method = made;\n"
           "  return {};\n"
           "}\n\n";
  }

  std::string run_function() const {
    std::string out =
        "Status run(const void* const* inputs, void* const* outputs) {\n"
        "  if (method == nullptr) TAPER_TRY(load());\n";
    for (size_t k = 0; k < inputs_.size(); ++k) {
      const Port& port = inputs_[k];
      const std::string rank = std::to_string(port.info.sizes().size());
      out += "  {\n    int32_t sizes[] = " + numbers(port.info.sizes()) +
             ";\n    uint8_t order[] = " + numbers(port.info.dim_order()) +
             ";\n    int32_t strides[" +
             std::to_string(std::max<size_t>(port.info.sizes().size(), 1)) +
             "];\n    Tensor tensor(static_cast<ScalarType>(" +
             std::to_string(static_cast<int>(port.info.scalar_type())) + "), " + rank +
             ", sizes, order, strides, const_cast<void*>(inputs[" + std::to_string(k) +
             "]));\n    TAPER_TRY(method->set_input(" + std::to_string(port.index) +
             ", EValue(&tensor)));\n  }\n";
    }
    for (size_t k = 0; k < outputs_.size(); ++k) {
      if (outputs_[k].info.is_memory_planned()) continue;
      // Refused for an output that is an input or a constant: it is copied below.
      out += "  bound[" + std::to_string(k) + "] = method->set_output_data(" +
             std::to_string(outputs_[k].index) + ", outputs[" + std::to_string(k) + "], " +
             std::to_string(outputs_[k].info.nbytes()) + ").ok();\n";
    }
    out += "  TAPER_TRY(method->execute());\n";
    for (size_t k = 0; k < outputs_.size(); ++k) {
      const std::string index = std::to_string(k);
      out += "  TAPER_TRY(copy_out(" + std::to_string(outputs_[k].index) + ", bound[" + index +
             "], outputs[" + index + "]));\n";
    }
    return out + "  return {};\n}\n\n";
  }

  std::string source() const {
    std::string out =
        "// Runs the program in program.cpp; made by `taper export --format=c`.\n\n"
        "#include \"model.h\"\n\n#include <string.h>\n\n#include <new>\n#include <utility>\n\n"
        "#include \"taper/method.h\"\n#include \"taper/selected_kernels.h\"\n\n"
        "extern \"C\" const unsigned char model_program[];\n"
        "extern \"C\" const size_t model_program_bytes;\n\n"
        "namespace {\n\nusing namespace taper;\n\n"
        "alignas(16) unsigned char loader_memory[sizeof(BufferDataLoader)];\n"
        "alignas(16) unsigned char program_memory[sizeof(Program)];\n"
        "alignas(16) unsigned char method_memory[sizeof(Method)];\n"
        "Method* method;\n"
        "bool bound[MODEL_OUTPUTS + 1];  // Whether an output is written where the caller wants "
        "it.\n";
    out += memory() + loading();
    out +=
        "[[maybe_unused]] Status copy_out(size_t index, bool is_bound, void* to) {\n"
        "  if (is_bound) return {};\n"
        "  const Result<EValue> value = method->get_output(index);\n"
        "  if (!value.ok()) return value.status();\n"
        "  const Tensor& tensor = value->to_tensor();\n"
        "  memcpy(to, tensor.const_data(), tensor.nbytes());\n"
        "  return {};\n}\n\n";
    out += run_function();
    out +=
        "int32_t code(Status status) { return static_cast<int32_t>(status.error()); }\n\n"
        "}  // namespace\n\nextern \"C\" {\n\n"
        "int32_t model_init(void) { return method == nullptr ? code(load()) : 0; }\n\n"
        "int32_t model_run_all(const void* const* inputs, void* const* outputs) {\n"
        "  return code(run(inputs, outputs));\n}\n\n"
        "int32_t model_reset(void) { return method == nullptr ? 0 : code(method->reset_state()); "
        "}\n\n";
    out += "int32_t model_run(" + parameters() + ") {\n  const void* inputs[] = {";
    for (const Port& port : inputs_) out += port.name("input_") + ", ";
    out += "nullptr};\n  void* outputs[] = {";
    for (const Port& port : outputs_) out += port.name("output_") + ", ";
    return out + "nullptr};\n  return model_run_all(inputs, outputs);\n}\n\n}  // extern \"C\"\n";
  }

  std::string program() const {
    std::string out =
        "// The program's file; made by `taper export --format=c`.\n\n#include <stddef.h>\n\n"
        "extern \"C\" {\nextern const size_t model_program_bytes;\n"
        "extern const unsigned char model_program[];\n"
        "const size_t model_program_bytes = " +
        std::to_string(pte_.size()) + ";\nalignas(64) const unsigned char model_program[] = {";
    for (size_t i = 0; i < pte_.size(); ++i) {
      out += (i % 24 == 0 ? "\n" : "") + std::to_string(static_cast<unsigned char>(pte_[i])) + ",";
    }
    return out + "\n};\n}\n";
  }

  std::string sources() const {
    std::string out =
        "# To compile beside this folder's sources: the runtime (taper_runtime.cpp of `make\n"
        "# amalgamation`, or runtime/core, runtime/program and runtime/executor), the shared files "
        "of\n"
        "# kernels_portable with -DTAPER_DTYPES=" +
        dtype_mask(selection_.dtypes) + ", and these of it with what stands beside them.\n";
    for (const auto& [file, dtypes] : selection_.files) {
      out += file + ".cpp -DTAPER_DTYPES=" + dtype_mask(dtypes) + "\n";
    }
    return out;
  }

  std::string_view pte_;
  const Selection& selection_;
  const MethodMeta& meta_;
  std::vector<Port> inputs_, outputs_;
  FirmwareFiles out_;
};

}  // namespace

FirmwareFiles firmware_files(std::string_view pte, const Selection& selection) {
  const AlignedCopy copy(pte);
  BufferDataLoader loader(copy.data(), copy.size());
  const Result<Program> program = Program::open(loader);
  if (!program.ok()) return {{}, {program.status().message()}};
  if (program->num_methods() != 1)
    return {{}, {"there are several methods; export them one by one"}};
  const Result<MethodMeta> meta = program->method_meta(program->method_name(0));
  if (!meta.ok()) return {{}, {meta.status().message()}};
  return Writer(pte, selection, *meta).run();
}

}  // namespace taper::select
