// A model is used by one thread at a time: a run takes the model's lock after it has released the
// interpreter's, so that other Python threads go on and those that want this model wait. Inputs are
// views of the caller's memory; outputs are copied out of the plan, or written in place where the
// program leaves them to the application.

#include "bindings/python/src/model.h"

#include <algorithm>
#include <cstring>
#include <list>
#include <memory>
#include <new>

#include "backends/devices.h"
#include "bindings/python/src/input.h"
#include "bindings/python/src/loaded.h"
#include "bindings/python/src/output.h"
#include "bindings/python/src/state.h"
#include "tools/aten_kernels.h"
#include "tools/program_runner.h"

namespace taper::python {
namespace {

// The threads of a model do not exist in a forked process, and nobody can wait for them there: a
// model that came along is left as it is.
void let_go(std::shared_ptr<Loaded> loaded) {
  if (loaded != nullptr && !is_of_this_process(*loaded)) {
    new std::shared_ptr<Loaded>(std::move(loaded));
    return;
  }
  const Unlocked unlocked;
  loaded.reset();
}

// ---- Opening ----

// Adds the backends of the list, a tuple of names or None for all. Returns false with an exception
// set.
bool choose_backends(PyObject* names, Loaded* loaded) {
  const BackendTable all = loaded->backends.table();
  if (names == Py_None) {
    loaded->table.assign(all.begin(), all.end());
    return true;
  }
  std::string known;
  for (const DeviceDescriptor* device : backend_devices()) {
    known += (known.empty() ? "" : ", ") + std::string(device->identity.name);
  }
  for (Py_ssize_t i = 0; i < PyTuple_Size(names); ++i) {
    const char* const name = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(names, i), nullptr);
    if (name == nullptr) return false;
    const DeviceDescriptor* const device = find_device(name);
    if (device == nullptr) {
      raise(error_type, "no backend '" + std::string(name) + "'; there are: " + known);
      return false;
    }
    for (const Backend& each : all) {
      if (std::strcmp(each.name, device->identity.delegate_id) == 0) loaded->table.push_back(each);
    }
  }
  return true;
}

// Copies a program that is given as bytes, since it must be aligned. Returns an empty span with an
// exception set if it cannot be read.
Span<const uint8_t> read_bytes(PyObject* source, Loaded* loaded) {
  Py_buffer view;
  if (PyObject_GetBuffer(source, &view, PyBUF_SIMPLE) != 0) return {};
  loaded->bytes = allocate_elements(static_cast<uint64_t>(view.len));
  const auto size = static_cast<size_t>(view.len);
  if (loaded->bytes == nullptr) {
    PyErr_NoMemory();
  } else if (size != 0) {
    std::memcpy(loaded->bytes.get(), view.buf, size);
  }
  PyBuffer_Release(&view);
  return {loaded->bytes.get(), loaded->bytes == nullptr ? 0 : size};
}

// The kernels of the package and, if a library is named, PyTorch's operators behind them.
std::vector<KernelTable> tables_of(bool portable, const char* aten) {
  const Span<const KernelTable> own = tools::kernel_tables(!portable);
  std::vector<KernelTable> tables(own.begin(), own.end());
  if (aten != nullptr) tables.push_back(tools::aten_kernels({true, aten, {}}));
  return tables;
}

ModuleOptions module_options(const Loaded& loaded, const char* data_path,
                             unsigned long long max_memory, bool share_state) {
  ModuleOptions options;
  options.kernels = {loaded.kernels.data(), loaded.kernels.size()};
  options.backends = loaded.table;
  options.pool = loaded.backends.thread_pool();
  options.temp_bytes *= std::min(std::max(options.pool.threads, uint32_t{1}), uint32_t{64});
  if (data_path != nullptr) options.data_path = data_path;
  if (max_memory != 0) options.max_memory_bytes = max_memory;
  options.share_mutable_buffers = share_state;
  return options;
}

// Model(path, bytes, threads, backends, data_path, portable, max_memory, aten, share_state): one of
// the first two is None; aten is the path of libtaper_aten.so, or None.
PyObject* open(PyTypeObject* type, PyObject* args, PyObject*) {
  const char *path = nullptr, *data_path = nullptr, *aten = nullptr;
  PyObject *bytes = Py_None, *names = Py_None;
  unsigned int threads = 0;
  int portable = 0, share_state = 0;
  unsigned long long max_memory = 0;
  if (PyArg_ParseTuple(args, "zOIOzpKzp", &path, &bytes, &threads, &names, &data_path, &portable,
                       &max_memory, &aten, &share_state) == 0) {
    return nullptr;
  }
  return guarded([&]() -> PyObject* {
    tools::BackendOptions options;
    options.threads = threads;
    auto loaded = std::make_shared<Loaded>(options);
    if (!choose_backends(names, loaded.get())) return nullptr;
    loaded->kernels = tables_of(portable != 0, aten);
    const ModuleOptions given = module_options(*loaded, data_path, max_memory, share_state != 0);
    if (path != nullptr) {
      loaded->module.emplace(std::string(path), given);
    } else {
      const Span<const uint8_t> file = read_bytes(bytes, loaded.get());
      if (PyErr_Occurred() != nullptr) return nullptr;
      loaded->module.emplace(file, given);
    }
    Status status;
    {
      const Unlocked unlocked;
      status = loaded->module->load();
    }
    if (!status.ok()) {
      if (path == nullptr) return raise(error_type, problem_of(*loaded->module, status));
      return raise(error_type, tools::load_problem(*loaded->module, status, path));
    }
    auto* const allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
    PyObject* const self = allocate(type, 0);
    if (self != nullptr) new (&model_of(self).loaded) std::shared_ptr<Loaded>(std::move(loaded));
    return self;
  });
}

void destroy(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  let_go(std::move(model_of(self).loaded));
  model_of(self).loaded.~shared_ptr();
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

PyObject* close(PyObject* self, PyObject*) {
  let_go(std::move(model_of(self).loaded));
  model_of(self).loaded = nullptr;
  Py_RETURN_NONE;
}

// ---- Descriptions ----

// (dtype, sizes, dynamic, planned) of a tensor, or (None, value).
PyObject* describe_tensor(const TensorInfo& info) {
  Ref sizes(PyTuple_New(static_cast<Py_ssize_t>(info.sizes().size())));
  for (size_t d = 0; sizes && d < info.sizes().size(); ++d) {
    PyTuple_SetItem(sizes.get(), static_cast<Py_ssize_t>(d), PyLong_FromLong(info.sizes()[d]));
  }
  if (!sizes) return nullptr;
  return Py_BuildValue("(sNOO)", to_string(info.scalar_type()), sizes.release(),
                       info.shape_dynamism() == ShapeDynamism::kStatic ? Py_False : Py_True,
                       info.is_memory_planned() ? Py_True : Py_False);
}

PyObject* describe_inputs(const MethodMeta& meta) {
  Ref all(PyList_New(0));
  for (size_t i = 0; all && i < meta.num_inputs(); ++i) {
    const Result<TensorInfo> info = meta.input_tensor_meta(i);
    const Ref each(info.ok() ? describe_tensor(*info)
                             : Py_BuildValue("(ON)", Py_None, plain_object(*meta.input_value(i))));
    if (!each || PyList_Append(all.get(), each.get()) != 0) return nullptr;
  }
  return all.release();
}

PyObject* describe_outputs(const MethodMeta& meta) {
  Ref all(PyList_New(0));
  for (size_t i = 0; all && i < meta.num_outputs(); ++i) {
    const Result<TensorInfo> info = meta.output_tensor_meta(i);
    const Ref each(info.ok() ? describe_tensor(*info) : Py_BuildValue("(OO)", Py_None, Py_None));
    if (!each || PyList_Append(all.get(), each.get()) != 0) return nullptr;
  }
  return all.release();
}

// A list of pairs of a name and a tensor.
PyObject* describe_buffers(const MethodMeta& meta) {
  Ref all(PyList_New(0));
  for (size_t i = 0; all && i < meta.num_attributes(); ++i) {
    const Ref each(Py_BuildValue("(NN)", text_of(state_name(meta, i)),
                                 describe_tensor(*meta.attribute_tensor_meta(i))));
    if (!each || PyList_Append(all.get(), each.get()) != 0) return nullptr;
  }
  return all.release();
}

// describe(method) -> (inputs, outputs, buffers, input structure, output structure, signature,
// bytes)
PyObject* describe(PyObject* self, PyObject* args) {
  const char* name = nullptr;
  if (PyArg_ParseTuple(args, "s", &name) == 0) return nullptr;
  return with_method(self, name, [&](Loaded& loaded, const MethodMeta& meta) -> PyObject* {
    uint64_t bytes = meta.method_bytes();
    for (size_t i = 0; i < meta.num_memory_planned_buffers(); ++i) {
      bytes += *meta.memory_planned_buffer_size(i);
    }
    const auto signature =
        loaded.module->program()->named_data("taper.signature." + std::string(name));
    std::string symbols;
    if (signature.ok()) symbols.assign(signature->begin(), signature->end());
    Ref inputs(describe_inputs(meta)), outputs(describe_outputs(meta));
    Ref buffers(describe_buffers(meta));
    if (!inputs || !outputs || !buffers) return nullptr;
    return Py_BuildValue("(NNNNNNK)", inputs.release(), outputs.release(), buffers.release(),
                         text_of(std::string(meta.input_structure())),
                         text_of(std::string(meta.output_structure())), text_of(symbols),
                         static_cast<unsigned long long>(bytes));
  });
}

// methods() -> list of names
PyObject* methods(PyObject* self, PyObject*) {
  const std::shared_ptr<Loaded> loaded = opened(self);
  if (loaded == nullptr) return nullptr;
  return guarded([&]() -> PyObject* {
    Ref names(PyList_New(0));
    for (const std::string& name : loaded->module->method_names()) {
      const Ref text(text_of(name));
      if (!text || PyList_Append(names.get(), text.get()) != 0) return nullptr;
    }
    return names.release();
  });
}

// ---- Running ----

// The inputs of one run. Lists, since views stay where they are.
struct Inputs {
  std::list<InputView> views;
  std::list<std::string> texts;
  std::vector<EValue> values;
};

bool read_inputs(const MethodMeta& meta, PyObject* given, Inputs* to) {
  const auto count = static_cast<size_t>(PyTuple_Size(given));
  to->values.reserve(count);
  if (count != meta.num_inputs()) {
    raise(error_type, "the method takes " + std::to_string(meta.num_inputs()) + " inputs, given " +
                          std::to_string(count));
    return false;
  }
  for (size_t i = 0; i < count; ++i) {
    PyObject* const object = PyTuple_GetItem(given, static_cast<Py_ssize_t>(i));
    const Result<TensorInfo> info = meta.input_tensor_meta(i);
    EValue value;
    if (info.ok()) {
      InputView& view = to->views.emplace_back();
      if (!view.open(object, i) || !view.fit(*info, i)) return false;
      value = view.value();
    } else if (!read_plain(object, &value, &to->texts.emplace_back())) {
      if (PyErr_Occurred() == nullptr) {
        PyErr_Format(error_type, "input %zu: expected a number, a text or None, given %S", i,
                     reinterpret_cast<PyObject*>(Py_TYPE(object)));
      }
      return false;
    }
    to->values.push_back(value);
  }
  return true;
}

// Gives the outputs that the program leaves to the application memory of their own, so that they
// need no copy. Those with elements in another order than row-major are copied.
Status bind_outputs(Module& module, const char* name, const MethodMeta& meta,
                    std::vector<OutputHeld>* outputs) {
  for (size_t i = 0; i < outputs->size(); ++i) {
    const Result<TensorInfo> info = meta.output_tensor_meta(i);
    if (!info.ok() || info->is_memory_planned()) continue;
    bool is_row_major = true;
    for (size_t d = 0; d < info->dim_order().size(); ++d) {
      is_row_major = is_row_major && info->dim_order()[d] == d;
    }
    if (!is_row_major) continue;
    Elements memory = allocate_elements(info->nbytes());
    TAPER_REQUIRE(memory != nullptr, Error::kMemoryAllocationFailed,
                  "there is no memory for an output");
    const Status bound = module.set_output_data(name, i, memory.get(), info->nbytes());
    if (bound.ok()) (*outputs)[i].elements = std::move(memory);
  }
  return {};
}

// Runs the method, under the model's lock; returns what is wrong, or an empty text. What the method
// then still refers to is bound anew by the next run, before it is used.
std::string run_locked(Module& module, const char* name, const MethodMeta& meta,
                       const Inputs& inputs, std::vector<OutputHeld>* outputs) {
  const Status bound = bind_outputs(module, name, meta, outputs);
  if (!bound.ok()) return problem_of(module, bound);
  const Result<std::vector<EValue>> results = module.execute(name, inputs.values);
  if (!results.ok()) return problem_of(module, results.status());
  for (const InputView& each : inputs.views) each.write_back();
  for (size_t i = 0; i < outputs->size(); ++i) {
    const Status taken = take_output((*results)[i], &(*outputs)[i]);
    if (!taken.ok()) return taken.message();
  }
  return "";
}

// run(method, inputs: tuple, make) -> list of plain values and what make(Tensor) gives; with None,
// Tensors themselves.
PyObject* run(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  if (count != 3 || PyTuple_Check(args[1]) == 0) {
    PyErr_SetString(PyExc_TypeError, "expected a name, a tuple, and a function or None");
    return nullptr;
  }
  const char* const name = PyUnicode_AsUTF8AndSize(args[0], nullptr);
  PyObject* const given = args[1];
  if (name == nullptr) return nullptr;
  return with_method(self, name, [&](Loaded& loaded, const MethodMeta& meta) -> PyObject* {
    Inputs inputs;
    if (!read_inputs(meta, given, &inputs)) return nullptr;
    std::vector<OutputHeld> outputs(meta.num_outputs());
    const std::string problem =
        in_turn(loaded, [&] { return run_locked(*loaded.module, name, meta, inputs, &outputs); });
    if (!problem.empty()) return raise(error_type, problem);
    Ref list(PyList_New(static_cast<Py_ssize_t>(outputs.size())));
    for (size_t i = 0; list && i < outputs.size(); ++i) {
      PyObject* const item = output_object(&outputs[i], args[2]);
      if (item == nullptr) return nullptr;
      PyList_SetItem(list.get(), static_cast<Py_ssize_t>(i), item);
    }
    return list.release();
  });
}

// reset(): buffers of all methods go back to their saved values.
PyObject* reset(PyObject* self, PyObject*) {
  const std::shared_ptr<Loaded> loaded = opened(self);
  if (loaded == nullptr) return nullptr;
  const std::string problem = in_turn(*loaded, [&] {
    const Status status = loaded->module->reset_state();
    return status.ok() ? std::string() : problem_of(*loaded->module, status);
  });
  if (!problem.empty()) return raise(error_type, problem);
  Py_RETURN_NONE;
}

PyMethodDef model_methods[] = {
    {"methods", methods, METH_NOARGS, nullptr},
    {"describe", describe, METH_VARARGS, nullptr},
    {"run", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(run)), METH_FASTCALL,
     nullptr},
    {"reset", reset, METH_NOARGS, nullptr},
    {"state", state, METH_VARARGS, nullptr},
    {"set_state", set_state, METH_VARARGS, nullptr},
    {"close", close, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyObject* make_model_type() {
  PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(open)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
                         {Py_tp_methods, model_methods},
                         {0, nullptr}};
  PyType_Spec spec = {"taper._taper.Model", sizeof(ModelObject), 0, Py_TPFLAGS_DEFAULT, slots};
  return PyType_FromSpec(&spec);
}

}  // namespace taper::python
