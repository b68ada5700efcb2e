// The code is the same for every model, except for the sizes of memory, one entry for each method,
// and the functions with typed arguments. Everything else is read from the program at run time.

#include "selective_build/firmware_source.h"

#include <algorithm>
#include <cctype>

namespace taper::select {
namespace {

constexpr const char* kOpening =
    "// Runs the program in program.cpp; made by `taper export --format=c`.\n\n"
    "#include \"model.h\"\n\n#include <string.h>\n\n#include <new>\n#include <utility>\n\n"
    "#include \"taper/method.h\"\n#include \"taper/selected_kernels.h\"\n\n"
    "extern \"C\" const unsigned char model_program[];\n"
    "extern \"C\" const size_t model_program_bytes;\n";

constexpr const char* kEntry = R"(
namespace {

using namespace taper;

// One method, and where it lies.
struct Entry {
  const char* name;
  Span<uint8_t> block;
  Span<const Span<uint8_t>> planned;
  Method* method;  // Null until it is loaded.
  alignas(Method) unsigned char memory[sizeof(Method)];
};

)";

constexpr const char* kLoading = R"(
alignas(16) unsigned char loader_memory[sizeof(BufferDataLoader)];
alignas(16) unsigned char program_memory[sizeof(Program)];
const Program* program;
Status last;

Status open() {
  BufferDataLoader* loader =
      new (loader_memory) BufferDataLoader(model_program, model_program_bytes);
  Result<Program> opened = Program::open(*loader);
  if (!opened.ok()) return opened.status();
  program = new (program_memory) Program(*opened);
  return {};
}

Status load(Entry& entry) {
  if (program == nullptr) TAPER_TRY(open());
  const KernelTable tables[] = {$TABLES};
  const MemoryManager memory = {entry.block, HierarchicalAllocator(entry.planned), $SCRATCH};
  MethodOptions options;
  options.kernels = tables;
  Result<Method> loaded = Method::load(*program, entry.name, memory, options);
  if (!loaded.ok()) return loaded.status();
  Method* made = new (entry.memory) Method(std::move(*loaded));
  const MethodMeta meta = made->meta();
  for (size_t i = 0; i < meta.num_inputs(); ++i) {
    if (*meta.input_tag(i) == Tag::kTensor) continue;
    TAPER_TRY(made->set_input(i, *meta.input_value(i)));
  }
  entry.method = made;
  return {};
}
)";

constexpr const char* kRunning = R"(
// `given` are the sizes of an input whose sizes are dynamic; null means the upper bounds.
Status set_input(Method& method, size_t i, const TensorInfo& info, const int32_t* given,
                 const void* data) {
  const size_t rank = info.sizes().size();
  int32_t sizes[kMaxRank], strides[kMaxRank];
  uint8_t order[kMaxRank];
  for (size_t d = 0; d < rank; ++d) {
    order[d] = info.dim_order()[d];
    sizes[d] = given == nullptr ? info.sizes()[d] : given[d];
    TAPER_REQUIRE(sizes[d] >= 0 && sizes[d] <= info.sizes()[d], Error::kInvalidArgument,
                  "a size of an input exceeds its upper bound");
  }
  Tensor tensor(info.scalar_type(), rank, sizes, order, strides, const_cast<void*>(data));
  return method.set_input(i, EValue(&tensor));
}

[[maybe_unused]] Status take_output(const EValue& value, void* to, int32_t* sizes) {
  if (value.is_tensor()) {
    const Tensor& tensor = value.to_tensor();
    // Copies an output that is elsewhere: it is planned, an input or a constant.
    if (tensor.const_data() != to) memmove(to, tensor.const_data(), tensor.nbytes());
    for (size_t d = 0; sizes != nullptr && d < tensor.sizes().size(); ++d) {
      sizes[d] = tensor.sizes()[d];
    }
  } else if (value.is_double()) {
    const double number = value.to_double();
    memcpy(to, &number, sizeof(number));
  } else if (value.is_bool()) {
    *static_cast<uint8_t*>(to) = value.to_bool() ? 1 : 0;
  } else {
    const int64_t number = value.to_int();
    memcpy(to, &number, sizeof(number));
  }
  return {};
}

Status run(Entry& entry, const void* const* inputs, const int32_t* const* input_sizes,
           void* const* outputs, int32_t* const* output_sizes) {
  if (entry.method == nullptr) TAPER_TRY(load(entry));
  Method& method = *entry.method;
  const MethodMeta meta = method.meta();
  for (size_t i = 0, k = 0; i < meta.num_inputs(); ++i) {
    if (*meta.input_tag(i) != Tag::kTensor) continue;
    TAPER_TRY(set_input(method, i, *meta.input_tensor_meta(i),
                        input_sizes == nullptr ? nullptr : input_sizes[k], inputs[k]));
    ++k;
  }
  for (size_t i = 0, k = 0; i < meta.num_outputs(); ++i) {
    if (*meta.output_tag(i) == Tag::kNone) continue;
    TAPER_REQUIRE(outputs[k] != nullptr, Error::kInvalidArgument, "an output has no memory");
    if (*meta.output_tag(i) == Tag::kTensor) {
      // Refused for an output that lies elsewhere; take_output() copies it.
      static_cast<void>(
          method.set_output_data(i, outputs[k], meta.output_tensor_meta(i)->nbytes()).ok());
    }
    ++k;
  }
  TAPER_TRY(method.execute());
  for (size_t i = 0, k = 0; i < meta.num_outputs(); ++i) {
    if (*meta.output_tag(i) == Tag::kNone) continue;
    const Result<EValue> value = method.get_output(i);
    if (!value.ok()) return value.status();
    TAPER_TRY(
        take_output(*value, outputs[k], output_sizes == nullptr ? nullptr : output_sizes[k]));
    ++k;
  }
  return {};
}

int32_t code(Status status) {
  last = status;
  return static_cast<int32_t>(status.error());
}

}  // namespace

extern "C" {

const char* model_error(void) { return last.message(); }
)";

// The functions of one method; words that begin with $ are replaced.
constexpr const char* kFunctions = R"(
int32_t $PREFIXinit(void) { return $ENTRY.method == nullptr ? code(load($ENTRY)) : 0; }

int32_t $PREFIXreset(void) {
  return $ENTRY.method == nullptr ? 0 : code($ENTRY.method->reset_state());
}

int32_t $PREFIXrun_all(const void* const* inputs, const int32_t* const* input_sizes,
                  void* const* outputs, int32_t* const* output_sizes) {
  return code(run($ENTRY, inputs, input_sizes, outputs, output_sizes));
}

int32_t $PREFIXrun($PARAMETERS) {
  const void* inputs[] = {$INPUTSnullptr};
  const int32_t* input_sizes[] = {$INPUT_SIZESnullptr};
  void* outputs[] = {$OUTPUTSnullptr};
  int32_t* output_sizes[] = {$OUTPUT_SIZESnullptr};
  return $PREFIXrun_all(inputs, input_sizes, outputs, output_sizes);
}
)";

std::string with(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// The size of planned buffer `i` as methods share it: the largest of those that hold no state.
uint64_t shared_bytes(const std::vector<FirmwareMethod>& methods, size_t i) {
  uint64_t bytes = 0;
  for (const FirmwareMethod& method : methods) {
    if (i < method.buffers.size() && !method.holds_state[i]) {
      bytes = std::max(bytes, method.buffers[i]);
    }
  }
  return bytes;
}

size_t most_buffers(const std::vector<FirmwareMethod>& methods) {
  size_t most = 0;
  for (const FirmwareMethod& method : methods) most = std::max(most, method.buffers.size());
  return most;
}

std::string buffer_name(const FirmwareMethod& method, size_t i) {
  const std::string number = std::to_string(i + 1);
  return method.holds_state[i] ? "buffer_" + number + "_of_" + method.id : "buffer_" + number;
}

std::string buffer(const std::string& name, size_t i, uint64_t bytes) {
  return "alignas(16) MODEL_BUFFER_" + std::to_string(i + 1) + " unsigned char " + name + "[" +
         std::to_string(bytes) + "];\n";
}

// The planned buffers, each with a macro for its section.
std::string buffers(const std::vector<FirmwareMethod>& methods) {
  std::string out;
  for (size_t i = 0; i < most_buffers(methods); ++i) {
    std::string arrays;
    if (const uint64_t bytes = shared_bytes(methods, i)) {
      arrays += buffer("buffer_" + std::to_string(i + 1), i, bytes);
    }
    for (const FirmwareMethod& method : methods) {
      if (i >= method.buffers.size() || !method.holds_state[i]) continue;
      arrays += buffer(buffer_name(method, i), i, method.buffers[i]);
    }
    if (arrays.empty()) continue;
    const std::string place = "MODEL_BUFFER_" + std::to_string(i + 1);
    out += "#ifndef " + place +
           "  // Where it lies: __attribute__((section(\".sram\")))\n#define " + place +
           "\n#endif\n" + arrays;
  }
  return out;
}

uint64_t scratch_bytes(const std::vector<FirmwareMethod>& methods) {
  uint64_t bytes = 0;
  for (const FirmwareMethod& method : methods) bytes = std::max(bytes, method.scratch_bytes);
  return bytes;
}

// `text` as a C string literal.
std::string literal(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '_') {
      out += c;
    } else {
      for (const int shift : {6, 3, 0}) {
        if (shift == 6) out += '\\';
        out += static_cast<char>('0' + (byte >> shift & 7));
      }
    }
  }
  return out + "\"";
}

std::string entry_name(const FirmwareMethod& method) { return "entry_" + method.id; }

// The method's block, the list of its buffers, and its entry.
std::string entry(const FirmwareMethod& method) {
  const std::string block = "block_of_" + method.id, planned = "planned_of_" + method.id;
  std::string out = "alignas(16) unsigned char " + block + "[" + method.macro + "BLOCK_BYTES];\n";
  std::string spans;
  for (size_t i = 0; i < method.buffers.size(); ++i) {
    const uint64_t bytes = method.buffers[i];
    spans += (spans.empty() ? "{" : ", {") + (bytes == 0 ? block : buffer_name(method, i)) + ", " +
             std::to_string(bytes) + "}";
  }
  if (!spans.empty()) out += "const Span<uint8_t> " + planned + "[] = {" + spans + "};\n";
  return out + "Entry " + entry_name(method) + " = {" + literal(method.name) + ", " + block + ", " +
         (spans.empty() ? "{}" : planned) + ", nullptr, {}};\n";
}

// "input_0, input_1, "; or, for `sizes`, "input_0_sizes, nullptr, ".
std::string names(const std::vector<FirmwarePort>& ports, bool sizes) {
  std::string out;
  for (const FirmwarePort& port : ports) {
    out += !sizes ? port.name : port.dynamic ? port.name + "_sizes" : "nullptr";
    out += ", ";
  }
  return out;
}

std::string functions(const FirmwareMethod& method) {
  std::string out = with(kFunctions, "$PREFIX", method.prefix);
  out = with(out, "$ENTRY", entry_name(method));
  out = with(out, "$PARAMETERS", firmware_parameters(method));
  out = with(out, "$INPUTS", names(method.inputs, false));
  out = with(out, "$OUTPUTS", names(method.outputs, false));
  out = with(out, "$INPUT_SIZES", names(method.inputs, true));
  return with(out, "$OUTPUT_SIZES", names(method.outputs, true));
}

}  // namespace

uint64_t firmware_arena_bytes(const std::vector<FirmwareMethod>& methods) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < most_buffers(methods); ++i) bytes += shared_bytes(methods, i);
  for (const FirmwareMethod& method : methods) {
    for (size_t i = 0; i < method.buffers.size(); ++i) {
      if (method.holds_state[i]) bytes += method.buffers[i];
    }
  }
  return bytes;
}

std::string firmware_parameters(const FirmwareMethod& method) {
  std::string out;
  const auto add = [&out](const FirmwarePort& port, const std::string& constant) {
    out += (out.empty() ? "" : ", ") + constant + port.c_type + "* " + port.name;
    if (!port.dynamic) return;
    out += ", " + constant + "int32_t " + port.name + "_sizes[" + std::to_string(port.rank) + "]";
  };
  for (const FirmwarePort& port : method.inputs) add(port, "const ");
  for (const FirmwarePort& port : method.outputs) add(port, "");
  return out.empty() ? "void" : out;
}

std::string firmware_source(const std::vector<FirmwareMethod>& methods, bool own_kernels) {
  std::string out = kOpening;
  if (own_kernels) out += "\ntaper::KernelTable model_own_kernels();  // The application's.\n";
  out += kEntry + buffers(methods);
  const uint64_t scratch = scratch_bytes(methods);
  if (scratch != 0) {
    out += "alignas(64) unsigned char scratch[" + std::to_string(scratch) + "];\n";
  }
  for (const FirmwareMethod& method : methods) out += entry(method);
  std::string loading =
      with(kLoading, "$SCRATCH", scratch != 0 ? "{scratch, sizeof(scratch)}" : "{}");
  out += with(loading, "$TABLES",
              own_kernels ? "selected_kernels(), model_own_kernels()" : "selected_kernels()");
  out += kRunning;
  for (const FirmwareMethod& method : methods) out += functions(method);
  return out + "\n}  // extern \"C\"\n";
}

}  // namespace taper::select
