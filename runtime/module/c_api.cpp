// taper/taper.h, implemented with Module. Every function is one Call: it takes the model behind the
// handle, does one thing, and reports an error as a code, a message and a site.

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>

#include "runtime/module/c_call.h"
#include "taper/taper.h"

namespace taper {

// Never destroyed, so that models may be closed at any time, even during exit().
ModelTable& models() {
  alignas(ModelTable) static unsigned char place[sizeof(ModelTable)];
  static ModelTable* const table = new (place) ModelTable();
  return *table;
}

namespace {

static_assert(TAPER_INVALID_ARGUMENT == static_cast<int>(Error::kInvalidArgument));
static_assert(TAPER_OUT_OF_MEMORY == static_cast<int>(Error::kMemoryAllocationFailed));
static_assert(TAPER_INVALID_PROGRAM == static_cast<int>(Error::kInvalidProgram));
static_assert(TAPER_TENSOR == static_cast<int>(Tag::kTensor));
static_assert(TAPER_BOOL == static_cast<int>(Tag::kBool));
static_assert(TAPER_MAX_RANK == kMaxRank);

// What decides whether a file may be used, and what it said.
struct AskedCheck {
  taper_check_file ask = nullptr;
  void* context = nullptr;
  taper_error answer = {};

  // Status refers to the text in `answer`.
  static Status check(void* self, Span<const uint8_t> file) {
    auto& asked = *static_cast<AskedCheck*>(self);
    asked.answer = {};
    const taper_code code = asked.ask(asked.context, file.data(), file.size(), &asked.answer);
    if (code == TAPER_OK) return {};
    asked.answer.message[sizeof(asked.answer.message) - 1] = '\0';
    const bool is_silent = asked.answer.message[0] == '\0';
    return {static_cast<Error>(code),
            is_silent ? "the application refuses the file" : asked.answer.message};
  }
};

struct Options {
  ModuleOptions module;
  KernelTable kernels;
  std::vector<Backend> backends;
  AskedCheck check;  // Module::load() asks it; later calls do not.
};

// Reads the backends that the caller passes, and adds every problem with them to `problems`.
std::vector<Backend> read_backends(const taper_options& given, std::string* problems) {
  std::vector<Backend> backends;
  const auto note = [&](const std::string& problem) {
    *problems += (problems->empty() ? "" : "; ") + problem;
  };
  if (given.backends == nullptr && given.backend_count != 0) note("backends is a null pointer");
  for (size_t i = 0; given.backends != nullptr && i < given.backend_count; ++i) {
    if (given.backends[i] == nullptr) {
      note("backends[" + std::to_string(i) + "] is a null pointer");
      continue;
    }
    const Backend& backend = given.backends[i]->entry;
    for (const Backend& other : backends) {
      if (std::strcmp(other.name, backend.name) != 0) continue;
      note(std::string("the backend ") + backend.name + " is given twice");
    }
    backends.push_back(backend);
  }
  return backends;
}

// Converts the options for Module. Returns a text with all problems; empty if there are none.
std::string read_options(const taper_options* given, Options* to) {
  if (given == nullptr) return {};
  constexpr size_t kLeast = offsetof(taper_options, parallel_for);  // The fields of version 0.1.
  if (given->struct_size < kLeast || given->struct_size > 4096) {
    return "options.struct_size is not sizeof(taper_options)";
  }
  taper_options known = {};
  std::memcpy(&known, given, std::min(sizeof(known), given->struct_size));
  const taper_options* from = &known;
  std::string problems;
  if (from->kernels != nullptr) to->kernels = from->kernels->table;
  to->backends = read_backends(known, &problems);
  ModuleOptions& module = to->module;
  if (from->data_path != nullptr) module.data_path = from->data_path;
  if (from->data != nullptr) {
    if (reinterpret_cast<uintptr_t>(from->data) % 16 != 0) {
      problems += (problems.empty() ? "" : "; ") + std::string("data is not aligned to 16 bytes");
    }
    module.data = {static_cast<const uint8_t*>(from->data), from->data_size};
  }
  if (from->max_memory_bytes != 0) module.max_memory_bytes = from->max_memory_bytes;
  if (from->max_instructions != 0) module.max_instructions = from->max_instructions;
  if (from->parallel_for != nullptr && from->threads > 1) {
    module.pool = {from->parallel_for, from->parallel_context, from->threads};
    module.temp_bytes *= std::min<uint32_t>(from->threads, 64);
  }
  module.memory = {from->take_memory, from->give_memory_back, from->memory_context};
  if (from->copy_files != 0) module.load_mode = LoadMode::kFile;
  to->check = {from->check_file, from->check_context, {}};
  if (from->check_file != nullptr) module.check = {&AskedCheck::check, &to->check};
  return problems;
}

template <typename Source>
taper_code open_model(const char* site, const Source& source, const taper_options* options,
                      taper_model* handle, taper_error* error) {
  return with_memory(site, error, [&] {
    Options read;
    const std::string problems = read_options(options, &read);
    if (!problems.empty()) return report(error, Error::kInvalidArgument, site, problems);
    auto model = std::make_unique<Model>(source, std::move(read.module), read.kernels,
                                         std::move(read.backends));
    const Status status = model->module.load();
    if (!status.ok()) {
      const std::string& text = model->module.last_error_text();
      return report(error, status.error(), site, text.empty() ? status.message() : text);
    }
    const Program& program = *model->module.program();
    for (size_t i = 0; i < program.num_methods(); ++i) {
      model->method_names.emplace_back(program.method_name(i));
    }
    *handle = models().add(std::move(model));
    return report(error, Error::kOk, "", "");
  });
}

taper_code describe(Call& call, Result<Tag> tag, Result<TensorInfo> tensor,
                    taper_value_info* info) {
  *info = {};
  if (!tag.ok()) return call.check(tag.status());
  info->kind = static_cast<int32_t>(*tag);
  if (*tag == Tag::kTensor) {
    if (!tensor.ok()) return call.check(tensor.status());
    describe_tensor(*tensor, info);
  }
  return call.code();
}

// Sets an input that is not a tensor. Only a number that varies can be set.
taper_code hold_number(Call& call, size_t index, const taper_value& value) {
  const std::string where = "input " + std::to_string(index);
  const Tag tag = *call.meta().input_tag(index);
  Module& module = call.model().module;
  const Status loaded = module.load_method(call.method().name);
  if (!loaded.ok()) return call.fail(loaded);
  if (!module.method(call.method().name)->input_varies(index)) {
    return call.fail(Error::kInvalidType, where + " is not a tensor: export has fixed its value");
  }
  if (value.kind != static_cast<int32_t>(tag)) {
    return call.fail(Error::kInvalidType, where + " is of the kind " + to_string(tag));
  }
  HeldInput& held = call.method().inputs[index];
  held.number = tag == Tag::kInt    ? EValue(value.integer)
                : tag == Tag::kBool ? EValue(value.integer != 0)
                                    : EValue(value.number);
  held.set = true;
  return call.code();
}

taper_code hold(Call& call, size_t index, const taper_value* value, Holding how) {
  if (!call.asks(value, "value")) return call.code();
  const MethodMeta meta = call.meta();
  if (!call.in_range(index, meta.num_inputs(), "input")) return call.code();
  if (*meta.input_tag(index) == Tag::kTensor) {
    std::string problem;
    const Error code = hold_input(*meta.input_tensor_meta(index), *value, how,
                                  &call.method().inputs[index], &problem);
    if (code != Error::kOk) {
      return call.fail(code, "input " + std::to_string(index) + ": " + problem);
    }
  } else {
    const taper_code code = hold_number(call, index, *value);
    if (code != TAPER_OK) return code;
  }
  call.method().outputs.clear();
  call.method().ran = false;
  return call.code();
}

}  // namespace
}  // namespace taper

using taper::Call;
using taper::Error;

extern "C" {

uint32_t taper_version(void) { return TAPER_VERSION; }

const char* taper_version_text(void) {
#define TAPER_TEXT(x) #x
#define TAPER_VERSION_TEXT(a, b, c) TAPER_TEXT(a) "." TAPER_TEXT(b) "." TAPER_TEXT(c)
  return TAPER_VERSION_TEXT(TAPER_VERSION_MAJOR, TAPER_VERSION_MINOR, TAPER_VERSION_PATCH);
}

const char* taper_code_name(taper_code code) { return taper::to_string(static_cast<Error>(code)); }

const char* taper_dtype_name(int32_t dtype) {
  return taper::is_dtype(dtype) ? taper::to_string(static_cast<taper::ScalarType>(dtype))
                                : "unknown";
}

size_t taper_dtype_size(int32_t dtype) {
  return taper::is_dtype(dtype) ? taper::element_size(static_cast<taper::ScalarType>(dtype)) : 0;
}

taper_code taper_open_path(const char* path, const taper_options* options, taper_model* model,
                           taper_error* error) {
  if (model == nullptr || path == nullptr) {
    return taper::report(error, Error::kInvalidArgument, __func__,
                         path == nullptr ? "path is a null pointer" : "model is a null pointer");
  }
  *model = 0;
  return taper::open_model(__func__, path, options, model, error);
}

taper_code taper_open_memory(const void* data, size_t size, const taper_options* options,
                             taper_model* model, taper_error* error) {
  if (model == nullptr || data == nullptr) {
    return taper::report(error, Error::kInvalidArgument, __func__,
                         data == nullptr ? "data is a null pointer" : "model is a null pointer");
  }
  *model = 0;
  if (reinterpret_cast<uintptr_t>(data) % 16 != 0) {
    return taper::report(error, Error::kInvalidArgument, __func__,
                         "data is not aligned to 16 bytes");
  }
  const taper::Span<const uint8_t> bytes(static_cast<const uint8_t*>(data), size);
  return taper::open_model(__func__, bytes, options, model, error);
}

taper_code taper_close(taper_model model) {
  taper::Model* found = nullptr;
  switch (taper::models().take(model, &found)) {
    case taper::ModelTable::Found::kNone:
      return TAPER_INVALID_ARGUMENT;
    case taper::ModelTable::Found::kBusy:
      return TAPER_INVALID_STATE;
    case taper::ModelTable::Found::kYes:
      break;
  }
  taper::models().remove(model);
  return TAPER_OK;
}

taper_code taper_method_count(taper_model model, size_t* count, taper_error* error) {
  return taper::on_model(__func__, model, error, [&](Call& call) {
    if (call.asks(count, "count")) *count = call.model().method_names.size();
    return call.code();
  });
}

taper_code taper_method_name(taper_model model, size_t index, const char** name,
                             taper_error* error) {
  return taper::on_model(__func__, model, error, [&](Call& call) {
    if (!call.asks(name, "name")) return call.code();
    *name = nullptr;
    const std::vector<std::string>& names = call.model().method_names;
    if (call.in_range(index, names.size(), "method")) *name = names[index].c_str();
    return call.code();
  });
}

taper_code taper_named_data(taper_model model, const char* name, const void** data, size_t* size,
                            taper_error* error) {
  return taper::on_model(__func__, model, error, [&](Call& call) {
    if (!call.asks(name, "name") || !call.asks(data, "data") || !call.asks(size, "size")) {
      return call.code();
    }
    *data = nullptr;
    *size = 0;
    const auto found = call.model().module.program()->named_data(name);
    if (!found.ok()) {
      return call.fail(found.error(), std::string("the program stores nothing under ") + name);
    }
    *data = found->data();
    *size = found->size();
    return call.code();
  });
}

taper_code taper_load_method(taper_model model, const char* method, taper_error* error) {
  return taper::on_method(__func__, model, method, error, [&](Call& call) {
    if (!call.ok()) return call.code();
    return call.check(call.model().module.load_method(call.method().name));
  });
}

taper_code taper_describe_method(taper_model model, const char* method, taper_method_info* info,
                                 taper_error* error) {
  return taper::on_method(__func__, model, method, error, [&](Call& call) {
    if (!call.asks(info, "info")) return call.code();
    const taper::MethodMeta meta = call.meta();
    *info = {meta.num_inputs(), meta.num_outputs(), meta.method_bytes(), 0};
    for (size_t i = 0; i < meta.num_memory_planned_buffers(); ++i) {
      info->planned_bytes += *meta.memory_planned_buffer_size(i);
    }
    return call.code();
  });
}

taper_code taper_describe_input(taper_model model, const char* method, size_t index,
                                taper_value_info* info, taper_error* error) {
  return taper::on_method(__func__, model, method, error, [&](Call& call) {
    if (!call.asks(info, "info")) return call.code();
    const taper::MethodMeta meta = call.meta();
    if (!call.in_range(index, meta.num_inputs(), "input")) return call.code();
    return taper::describe(call, meta.input_tag(index), meta.input_tensor_meta(index), info);
  });
}

taper_code taper_describe_output(taper_model model, const char* method, size_t index,
                                 taper_value_info* info, taper_error* error) {
  return taper::on_method(__func__, model, method, error, [&](Call& call) {
    if (!call.asks(info, "info")) return call.code();
    const taper::MethodMeta meta = call.meta();
    if (!call.in_range(index, meta.num_outputs(), "output")) return call.code();
    return taper::describe(call, meta.output_tag(index), meta.output_tensor_meta(index), info);
  });
}

taper_code taper_set_input(taper_model model, const char* method, size_t index,
                           const taper_value* value, taper_error* error) {
  return taper::on_method(__func__, model, method, error, [&](Call& call) {
    return taper::hold(call, index, value, taper::Holding::kCopy);
  });
}

taper_code taper_bind_input(taper_model model, const char* method, size_t index,
                            const taper_value* value, taper_error* error) {
  return taper::on_method(__func__, model, method, error, [&](Call& call) {
    return taper::hold(call, index, value, taper::Holding::kPlace);
  });
}

taper_code taper_bind_output(taper_model model, const char* method, size_t index, void* data,
                             size_t bytes, taper_error* error) {
  return taper::on_method(__func__, model, method, error, [&](Call& call) {
    if (!call.ok() || !call.in_range(index, call.meta().num_outputs(), "output"))
      return call.code();
    call.method().outputs.clear();
    call.method().ran = false;
    return call.check(call.model().module.set_output_data(call.method().name, index, data, bytes));
  });
}

taper_code taper_run(taper_model model, const char* method, taper_error* error) {
  return taper::on_method(__func__, model, method, error, [&](Call& call) {
    if (!call.ok()) return call.code();
    return taper::run(
        call,
        [](taper::Module& module, const std::string& name, taper::Span<const taper::EValue> inputs,
           std::vector<taper::EValue>* outputs) { return module.execute(name, inputs, outputs); });
  });
}

taper_code taper_get_output(taper_model model, const char* method, size_t index, taper_value* value,
                            taper_error* error) {
  return taper::on_method(__func__, model, method, error, [&](Call& call) {
    if (!call.asks(value, "value")) return call.code();
    *value = {};
    if (!call.method().ran) {
      return call.fail(Error::kInvalidState, "there are no outputs before a run that succeeded");
    }
    const std::vector<taper::EValue>& outputs = call.method().outputs;
    if (call.in_range(index, outputs.size(), "output")) taper::show_value(outputs[index], value);
    return call.code();
  });
}

taper_code taper_reset_state(taper_model model, taper_error* error) {
  return taper::on_model(__func__, model, error, [&](Call& call) {
    if (!call.ok()) return call.code();
    for (const auto& method : call.model().methods) method->ran = false;
    return call.check(call.model().module.reset_state());
  });
}

}  // extern "C"
