// Module: a file, its methods and their memory behind one object.

#include "taper/module.h"

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#include "runtime/module/aligned_block.h"
#include "taper/external_data.h"
#include "taper/file_data_loader.h"
#include "taper/out_of_memory.h"

namespace taper {
namespace {

using internal::AlignedBlock;

// The planned buffer in which programs keep state that methods share: memory_id 2 on the wire.
constexpr size_t kSharedBuffer = 1;

// A method and its memory.
struct LoadedMethod {
  std::string name;
  AlignedBlock block;
  std::vector<AlignedBlock> arenas;  // The block of the shared buffer is empty.
  std::vector<Span<uint8_t>> arena_spans;
  std::vector<AlignedBlock> outputs;  // Of those that the program leaves to the application.
  uint64_t bytes = 0;                 // Of all of these.
  std::optional<Method> method;
};

// What the application says of the file; everything is accepted where it does not check.
Status accept(const FileCheck& check, DataLoader& file) {
  if (check.check == nullptr) return {};
  return check.check(check.context, *file.load(0, file.size()));
}

// The loader of a file, by path or in memory: one of the three kinds.
class FileSource {
 public:
  Status open(const std::string& path, const ModuleOptions& options) {
    // A file that is mapped could change after the check.
    if (options.load_mode == LoadMode::kMmap && options.check.check == nullptr) {
      Result<MmapDataLoader> mapped = MmapDataLoader::open(path.c_str());
      if (mapped.ok()) mapped_.emplace(std::move(*mapped));
      if (mapped.ok() || mapped.error() != Error::kNotSupported) return mapped.status();
    }
    Result<FileDataLoader> read = FileDataLoader::open(path.c_str());
    TAPER_TRY(read.status());
    read_.emplace(std::move(*read));
    return accept(options.check, *read_);
  }
  Status serve(Span<const uint8_t> bytes, const ModuleOptions& options) {
    buffer_.emplace(bytes.data(), bytes.size());
    return accept(options.check, *buffer_);
  }
  void close() {
    mapped_.reset();
    read_.reset();
    buffer_.reset();
  }
  DataLoader& loader() {
    if (mapped_) return *mapped_;
    if (read_) return *read_;
    return *buffer_;
  }

 private:
  std::optional<MmapDataLoader> mapped_;
  std::optional<FileDataLoader> read_;
  std::optional<BufferDataLoader> buffer_;
};

std::string message_of(const Diagnostic& found) {
  const std::string message(found.status.message());
  return message.empty() ? to_string(found.status.error()) : message;
}

// A text from a file, in one line.
std::string printable(std::string_view text) {
  std::string line(text);
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < ' ' || c == 127) c = ' ';
  }
  return line;
}

// What a diagnostic is about and where: "aten::add.out (method forward, value 3)".
std::string place_of(const Diagnostic& found) {
  std::string place;
  if (!found.method.empty()) place = "method " + std::string(found.method);
  if (found.instruction >= 0) place += ", instruction " + std::to_string(found.instruction);
  if (found.value >= 0) place += ", value " + std::to_string(found.value);
  if (place.empty()) return std::string(found.subject);
  if (found.subject.empty()) return "(" + place + ")";
  return std::string(found.subject) + " (" + place + ")";
}

}  // namespace

struct Module::State {
  std::string path;
  ModuleOptions options;
  Span<const uint8_t> memory;
  FileSource program_source;
  FileSource data_source;
  std::optional<Program> program;
  std::optional<ExternalData> external;
  std::vector<uint32_t> key_index;
  AlignedBlock temp;
  AlignedBlock shared;
  std::vector<std::unique_ptr<LoadedMethod>> methods;
  std::string error_text;
  std::string last_message;  // The message of the last line.

  // Adds a line to the error text, or only a name to the last line if the message is the same.
  void add_line(const Diagnostic& found) {
    const std::string message = message_of(found), place = place_of(found);
    if (!error_text.empty() && message == last_message && !found.subject.empty()) {
      error_text += ", " + place;
      return;
    }
    if (!error_text.empty()) error_text += '\n';
    error_text += message;
    if (!place.empty()) error_text += (found.subject.empty() ? " " : ": ") + place;
    last_message = message;
  }
  // The runtime calls this; a line for which there is no memory is left out.
  static void note(void* context, const Diagnostic& found) {
    State& state = *static_cast<State*>(context);
    with_memory([&] { state.add_line(found); }, [] {});
  }
  Diagnostics diagnostics() { return {&State::note, this}; }

  // Makes sure that a failure has an error text, and returns it.
  Status fail(Status status, std::string_view subject) {
    if (!status.ok() && error_text.empty()) {
      note(this, Diagnostic{status, {}, subject, -1, -1});
    }
    return status;
  }

  Status open_data() {
    const bool in_memory = options.data.data() != nullptr;
    if (options.data_path.empty() && !in_memory) return {};
    TAPER_TRY(fail(in_memory ? data_source.serve(options.data, options)
                             : data_source.open(options.data_path, options),
                   options.data_path));
    Result<ExternalData> opened = ExternalData::open(data_source.loader(), diagnostics());
    if (!opened.ok()) return fail(opened.status(), options.data_path);
    external.emplace(std::move(*opened));
    key_index.resize(external->num_keys());
    return fail(external->build_index(key_index), options.data_path);
  }

  Status open_program() {
    const bool in_memory = memory.data() != nullptr;
    TAPER_TRY(
        fail(in_memory ? program_source.serve(memory, options) : program_source.open(path, options),
             path));
    TAPER_TRY(open_data());
    Result<Program> opened = Program::open(program_source.loader(), diagnostics());
    if (!opened.ok()) return fail(opened.status(), path);
    program.emplace(*opened);
    return {};
  }

  LoadedMethod* find(std::string_view name) const {
    for (const auto& loaded : methods) {
      if (loaded->name == name) return loaded.get();
    }
    return nullptr;
  }

  // Allocates the shared buffer, as large as the method that needs most of it requires.
  Status make_shared_buffer() {
    if (!options.share_mutable_buffers || !shared.bytes().empty()) return {};
    uint64_t bytes = 0;
    for (size_t i = 0; i < program->num_methods(); ++i) {
      Result<MethodMeta> meta = program->method_meta(program->method_name(i));
      if (meta.ok() && kSharedBuffer < meta->num_memory_planned_buffers()) {
        bytes = std::max(bytes, *meta->memory_planned_buffer_size(kSharedBuffer));
      }
    }
    return allocate(bytes, kSharedBuffer + 1, &shared, 0);
  }

  // Allocates one part of a method. `total` is what the method has already; `id` as in
  // MemorySource.
  Status allocate(uint64_t bytes, size_t id, AlignedBlock* block, uint64_t total) {
    return allocate_from(options.memory, bytes, id, block, total);
  }
  Status allocate_from(const MemorySource& source, uint64_t bytes, size_t id, AlignedBlock* block,
                       uint64_t total) const {
    const uint64_t limit = options.max_memory_bytes;
    TAPER_REQUIRE(total <= limit && bytes <= limit - total, Error::kMemoryAllocationFailed,
                  "the method needs more memory than the limit allows");
    *block = AlignedBlock(source, static_cast<uint32_t>(id), bytes);
    TAPER_REQUIRE(block->bytes().size() == bytes, Error::kMemoryAllocationFailed,
                  "the method needs more memory than is available");
    return {};
  }

  Status allocate_all(const MethodMeta& meta, LoadedMethod* loaded) {
    uint64_t total = meta.method_bytes();
    TAPER_TRY(allocate(total, 0, &loaded->block, 0));
    for (size_t i = 0; i < meta.num_memory_planned_buffers(); ++i) {
      const bool is_shared = options.share_mutable_buffers && i == kSharedBuffer;
      const uint64_t bytes = is_shared ? 0 : *meta.memory_planned_buffer_size(i);
      loaded->arenas.emplace_back();
      TAPER_TRY(allocate(bytes, i + 1, &loaded->arenas.back(), total));
      total += bytes;
      loaded->bytes = total;
      loaded->arena_spans.push_back(is_shared ? shared.bytes() : loaded->arenas.back().bytes());
    }
    if (temp.bytes().empty()) temp = AlignedBlock(options.temp_bytes);
    return {};
  }

  // Gives memory from the heap to an output that the program leaves to the application. Of an
  // output that is an input, or an alias of another value, set_output_data() says that it needs
  // none (kInvalidState).
  Status own_output(LoadedMethod* loaded, size_t i) {
    Method& method = *loaded->method;
    loaded->outputs[i] = AlignedBlock();
    const Status asked = method.set_output_data(i, nullptr, 0);
    if (asked.ok() || asked.error() != Error::kInvalidArgument) return {};
    const uint64_t bytes = method.meta().output_tensor_meta(i)->nbytes();
    TAPER_TRY(allocate_from({}, bytes, 0, &loaded->outputs[i], loaded->bytes));
    return method.set_output_data(i, loaded->outputs[i].bytes().data(), bytes);
  }

  Status own_outputs(LoadedMethod* loaded) {
    loaded->outputs.resize(loaded->method->num_outputs());
    for (size_t i = 0; i < loaded->outputs.size(); ++i) {
      TAPER_TRY(own_output(loaded, i));
      loaded->bytes += loaded->outputs[i].bytes().size();
    }
    return {};
  }

  Status load_one(std::string_view name) {
    Result<MethodMeta> meta = program->method_meta(name);
    if (!meta.ok()) return fail(meta.status(), std::string(name));
    auto loaded = std::make_unique<LoadedMethod>();
    loaded->name = name;
    TAPER_TRY(fail(make_shared_buffer(), loaded->name));
    TAPER_TRY(fail(allocate_all(*meta, loaded.get()), loaded->name));
    MethodOptions method_options;
    method_options.kernels = options.kernels;
    method_options.backends = options.backends;
    method_options.external_data = external ? &*external : nullptr;
    method_options.diagnostics = diagnostics();
    method_options.max_instructions = options.max_instructions;
    method_options.pool = options.pool;
    const MemoryManager manager{loaded->block.bytes(), HierarchicalAllocator(loaded->arena_spans),
                                temp.bytes()};
    Result<Method> method = Method::load(*program, name, manager, method_options);
    if (!method.ok()) return fail(method.status(), loaded->name);
    loaded->method.emplace(std::move(*method));
    TAPER_TRY(fail(own_outputs(loaded.get()), loaded->name));
    methods.push_back(std::move(loaded));
    return {};
  }

  // Sets the inputs: all of them, or only the tensors.
  Status set_inputs(Method& method, Span<const EValue> inputs) {
    const MethodMeta meta = method.meta();
    size_t tensors = 0;
    for (size_t i = 0; i < meta.num_inputs(); ++i) tensors += *meta.input_tag(i) == Tag::kTensor;
    const bool fill = inputs.size() != meta.num_inputs() && inputs.size() == tensors;
    TAPER_REQUIRE(fill || inputs.size() == meta.num_inputs(), Error::kInvalidArgument,
                  "the number of inputs differs from the method's");
    size_t next = 0;
    for (size_t i = 0; i < meta.num_inputs(); ++i) {
      const bool baked = fill && *meta.input_tag(i) != Tag::kTensor;
      Result<EValue> value = baked ? meta.input_value(i) : Result<EValue>(inputs[next]);
      const Status status = value.ok() ? method.set_input(i, *value) : value.status();
      if (!status.ok()) return fail(status, "input " + std::to_string(i));
      next += baked ? 0 : 1;
    }
    return {};
  }

  Status describe_failure(const Method& method, Status status) {
    const ExecutionFailure failure = method.last_failure();
    std::string subject = printable(failure.message);
    if (subject.empty()) {
      subject = std::string(failure.op.name);
      if (!failure.op.overload.empty()) subject += "." + std::string(failure.op.overload);
    }
    note(this, Diagnostic{status, method.meta().name(), subject, -1, failure.instruction});
    return status;
  }
};

namespace {

// What `act` returns for the state, of which there may be none; an error without enough memory.
template <typename State, typename Act>
auto with_state(State* state, const Act& act) -> decltype(act(*state)) {
  return with_memory([&]() -> decltype(act(*state)) {
    if (state == nullptr) return kOutOfMemory;
    return act(*state);
  });
}

}  // namespace

Module::Module(std::string path, ModuleOptions options) : state_(new (std::nothrow) State()) {
  if (state_ == nullptr) return;
  state_->path = std::move(path);
  state_->options = std::move(options);
}

Module::Module(Span<const uint8_t> bytes, ModuleOptions options)
    : Module(std::string(), std::move(options)) {
  // An empty span must still select the loader of memory, not of a path.
  static constexpr uint8_t kNothing = 0;
  if (state_ == nullptr) return;
  state_->memory = bytes.data() == nullptr ? Span<const uint8_t>(&kNothing, 0) : bytes;
}

Module::~Module() = default;

Status Module::load() {
  if (state_ != nullptr && state_->program) return {};
  const Status status = with_state(state_.get(), [](State& state) {
    state.error_text.clear();
    return state.open_program();
  });
  if (!status.ok() && state_ != nullptr) {
    state_->program.reset();
    state_->external.reset();
    state_->program_source.close();
    state_->data_source.close();
  }
  return status;
}

const Program* Module::program() const {
  return state_ != nullptr && state_->program ? &*state_->program : nullptr;
}

std::vector<std::string> Module::method_names() {
  using Names = std::vector<std::string>;
  if (!load().ok()) return {};
  return with_memory(
      [&] {
        Names names;
        for (size_t i = 0; i < state_->program->num_methods(); ++i) {
          names.emplace_back(state_->program->method_name(i));
        }
        return names;
      },
      [] { return Names(); });
}

Result<MethodMeta> Module::method_meta(std::string_view name) {
  TAPER_TRY(load());
  return state_->program->method_meta(name);
}

Status Module::load_method(std::string_view name) {
  TAPER_TRY(load());
  return with_state(state_.get(), [&](State& state) -> Status {
    state.error_text.clear();
    if (state.find(name) != nullptr) return {};
    TAPER_TRY(state.load_one(name));
    if (state.shared.bytes().empty()) return {};  // No method has state that others see.
    for (size_t i = 0; i < state.program->num_methods(); ++i) {
      const std::string_view other = state.program->method_name(i);
      if (state.find(other) == nullptr) TAPER_TRY(state.load_one(other));
    }
    return {};
  });
}

bool Module::is_method_loaded(std::string_view name) const {
  return state_ != nullptr && state_->find(name) != nullptr;
}

void Module::unload_method(std::string_view name) {
  if (state_ == nullptr) return;
  auto& methods = state_->methods;
  methods.erase(std::remove_if(methods.begin(), methods.end(),
                               [name](const auto& loaded) { return loaded->name == name; }),
                methods.end());
}

Method* Module::method(std::string_view name) {
  LoadedMethod* loaded = state_ != nullptr ? state_->find(name) : nullptr;
  return loaded == nullptr ? nullptr : &*loaded->method;
}

Result<std::vector<EValue>> Module::execute(std::string_view name, Span<const EValue> inputs) {
  std::vector<EValue> outputs;
  TAPER_TRY(execute(name, inputs, &outputs));
  return outputs;
}

Status Module::execute(std::string_view name, Span<const EValue> inputs,
                       std::vector<EValue>* outputs) {
  return execute_by(
      name, inputs, [](Method& method, void*) { return method.execute(); }, nullptr, outputs);
}

Status Module::execute_by(std::string_view name, Span<const EValue> inputs,
                          Status (*run)(Method& method, void* context), void* context,
                          std::vector<EValue>* outputs) {
  outputs->clear();
  TAPER_TRY(load_method(name));
  Method& method = *this->method(name);
  return with_state(state_.get(), [&](State& state) -> Status {
    TAPER_TRY(state.fail(state.set_inputs(method, inputs), name));
    const Status status = run(method, context);
    if (!status.ok()) return state.describe_failure(method, status);
    outputs->reserve(method.num_outputs());
    for (size_t i = 0; i < method.num_outputs(); ++i) {
      Result<EValue> output = method.get_output(i);
      if (!output.ok()) return state.fail(output.status(), "output " + std::to_string(i));
      outputs->push_back(*output);
    }
    return {};
  });
}

Status Module::set_output_data(std::string_view name, size_t i, void* data, size_t bytes) {
  TAPER_TRY(load_method(name));
  return with_state(state_.get(), [&](State& state) {
    LoadedMethod& loaded = *state.find(name);
    const std::string subject = "output " + std::to_string(i);
    if (data == nullptr && i < loaded.outputs.size()) {
      return state.fail(state.own_output(&loaded, i), subject);
    }
    const Status status = loaded.method->set_output_data(i, data, bytes);
    if (status.ok()) loaded.outputs[i] = AlignedBlock();
    return state.fail(status, subject);
  });
}

Status Module::reset_state() {
  return with_state(state_.get(), [](State& state) -> Status {
    state.shared.zero();
    for (const auto& loaded : state.methods) {
      for (AlignedBlock& arena : loaded->arenas) arena.zero();
    }
    for (const auto& loaded : state.methods) TAPER_TRY(loaded->method->reset_state());
    return {};
  });
}

const std::string& Module::last_error_text() const {
  static const std::string none;
  return state_ != nullptr ? state_->error_text : none;
}

}  // namespace taper
