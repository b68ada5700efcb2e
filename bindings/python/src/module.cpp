// _taper, the compiled half of the Python package: models, the compiler, and the command lines.

#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "backends/devices.h"
#include "bindings/python/src/input.h"
#include "bindings/python/src/loaded.h"
#include "bindings/python/src/model.h"
#include "bindings/python/src/python.h"
#include "bindings/python/src/tensor.h"
#include "bindings/python/src/torch_library.h"
#include "taper/compiler.h"
#include "tools/commands.h"
#include "tools/program_runner.h"

// The main() of examples/executor_runner, under another name.
int taper_executor_runner(int argc, char** argv);

namespace taper::python {

PyObject* error_type = nullptr;
PyObject* closed_type = nullptr;

PyObject* text_of(const std::string& text) {
  return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
}

PyObject* raise(PyObject* type, const std::string& text) {
  const Ref message(text_of(text));
  if (message) PyErr_SetObject(type, message.get());
  return nullptr;
}

namespace {

// The words of a list of str; they live as long as the list. Empty with an exception set if one is
// no str.
std::vector<const char*> words_of(PyObject* list) {
  std::vector<const char*> words;
  for (Py_ssize_t i = 0; i < PyList_Size(list); ++i) {
    const char* const word = PyUnicode_AsUTF8AndSize(PyList_GetItem(list, i), nullptr);
    if (word == nullptr) return {};
    words.push_back(word);
  }
  return words;
}

// Programs in memory, held for the time of a compilation.
class Sources {
 public:
  Sources() = default;
  Sources(const Sources&) = delete;
  Sources& operator=(const Sources&) = delete;
  ~Sources() {
    for (Py_buffer& each : buffers_) PyBuffer_Release(&each);
  }

  // From a list of (method, bytes). Returns false with an exception set.
  bool read(PyObject* list) {
    const Py_ssize_t count = PyList_Size(list);
    buffers_.reserve(static_cast<size_t>(count));
    for (Py_ssize_t i = 0; i < count; ++i) {
      const char* method = nullptr;
      Py_buffer buffer = {};
      if (PyArg_ParseTuple(PyList_GetItem(list, i), "sy*", &method, &buffer) == 0) return false;
      buffers_.push_back(buffer);
      sources_.push_back({method, buffer.buf, static_cast<size_t>(buffer.len)});
    }
    return true;
  }
  const std::vector<taper_source>& all() const { return sources_; }

 private:
  std::vector<Py_buffer> buffers_;
  std::vector<taper_source> sources_;
};

PyObject* bytes_of(const void* data, size_t size) {
  return PyBytes_FromStringAndSize(static_cast<const char*>(data), static_cast<Py_ssize_t>(size));
}

// compile(words, sources) -> (program, weights, report as JSON, message; empty if there is none)
PyObject* compile(PyObject*, PyObject* args) {
  PyObject *words = nullptr, *files = nullptr;
  if (PyArg_ParseTuple(args, "O!O!", &PyList_Type, &words, &PyList_Type, &files) == 0) {
    return nullptr;
  }
  Sources sources;
  const std::vector<const char*> options = words_of(words);
  if (PyErr_Occurred() != nullptr || !sources.read(files)) return nullptr;
  taper_error error = {};
  taper_compilation* made = nullptr;
  taper_code code = TAPER_OK;
  {
    const Unlocked unlocked;
    code = taper_compile(options.data(), options.size(), sources.all().data(), sources.all().size(),
                         &made, &error);
  }
  const std::unique_ptr<taper_compilation, void (*)(taper_compilation*)> owner(
      made, taper_free_compilation);
  if (made == nullptr) return PyErr_NoMemory();
  size_t program_size = 0, weights_size = 0;
  const void* const program = taper_compiled_program(made, &program_size);
  const void* const weights = taper_compiled_weights(made, &weights_size);
  return Py_BuildValue("(NNNN)", bytes_of(program, program_size), bytes_of(weights, weights_size),
                       text_of(taper_compilation_report(made)),
                       text_of(code == TAPER_OK ? "" : error.message));
}

// Runs a command line, whose first word is the program's name; returns its exit code.
PyObject* run_main(PyObject* args, int (*run)(int argc, char** argv)) {
  PyObject* list = nullptr;
  if (PyArg_ParseTuple(args, "O!", &PyList_Type, &list) == 0) return nullptr;
  const std::vector<const char*> words = words_of(list);
  if (PyErr_Occurred() != nullptr) return nullptr;
  std::vector<std::vector<char>> copies;  // A main() may write into its words.
  std::vector<char*> pointers;
  for (const char* word : words) copies.emplace_back(word, word + std::strlen(word) + 1);
  for (std::vector<char>& copy : copies) pointers.push_back(copy.data());
  pointers.push_back(nullptr);
  int code = 0;
  {
    const Unlocked unlocked;
    code = run(static_cast<int>(words.size()), pointers.data());
  }
  return PyLong_FromLong(code);
}

PyObject* run_taper(PyObject*, PyObject* args) { return run_main(args, tools::run_taper); }

PyObject* run_executor_runner(PyObject*, PyObject* args) {
  return run_main(args, taper_executor_runner);
}

// Appends a text to a list. Returns false with an exception set.
bool append(const Ref& list, const char* text) {
  const Ref item(PyUnicode_FromString(text));
  return list && item && PyList_Append(list.get(), item.get()) == 0;
}

// backends() -> the names of those that can run programs
PyObject* backends(PyObject*, PyObject*) {
  Ref names(PyList_New(0));
  for (const DeviceDescriptor* device : backend_devices()) {
    if (!append(names, device->identity.name)) return nullptr;
  }
  return names.release();
}

// delegates() -> the ids of their delegates in files
PyObject* delegates(PyObject*, PyObject*) {
  Ref names(PyList_New(0));
  for (const DeviceDescriptor* device : backend_devices()) {
    if (!append(names, device->identity.delegate_id)) return nullptr;
  }
  return names.release();
}

// operators() -> the names of all operators that have a kernel; some of them twice
PyObject* operators(PyObject*, PyObject*) {
  Ref names(PyList_New(0));
  for (const KernelTable& table : tools::kernel_tables(true)) {
    for (const Kernel* kernel : table) {
      if (!append(names, kernel->name)) return nullptr;
    }
  }
  return names.release();
}

PyMethodDef functions[] = {{"compile", compile, METH_VARARGS, nullptr},
                           {"run_taper", run_taper, METH_VARARGS, nullptr},
                           {"run_executor_runner", run_executor_runner, METH_VARARGS, nullptr},
                           {"know_torch", know_torch, METH_VARARGS, nullptr},
                           {"to_torch", to_torch, METH_O, nullptr},
                           {"note_fork", note_fork, METH_NOARGS, nullptr},
                           {"backends", backends, METH_NOARGS, nullptr},
                           {"delegates", delegates, METH_NOARGS, nullptr},
                           {"operators", operators, METH_NOARGS, nullptr},
                           {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_taper", nullptr, -1, functions, nullptr, nullptr, nullptr, nullptr};

// Adds an attribute, of which the module holds a reference of its own. Returns false with an
// exception set.
bool add(PyObject* module, const char* name, PyObject* object) {
  return object != nullptr && PyModule_AddObjectRef(module, name, object) == 0;
}

}  // namespace

PyObject* make_module() {
  Ref module(PyModule_Create(&definition));
  if (!module) return nullptr;
  error_type = PyErr_NewExceptionWithDoc("taper.Error", "What Taper refuses, in its own words.",
                                         PyExc_RuntimeError, nullptr);
  closed_type = error_type == nullptr
                    ? nullptr
                    : PyErr_NewExceptionWithDoc("taper.ClosedError", "The model is closed.",
                                                error_type, nullptr);
  const Ref version(PyUnicode_FromString(TAPER_PACKAGE_VERSION));
  if (!add(module.get(), "Error", error_type) || !add(module.get(), "ClosedError", closed_type) ||
      !add(module.get(), "Tensor", make_tensor_type()) ||
      !add(module.get(), "Model", make_model_type()) ||
      !add(module.get(), "version", version.get())) {
    return nullptr;
  }
  return module.release();
}

}  // namespace taper::python

// NOLINTNEXTLINE(readability-identifier-naming): Python's name.
PyMODINIT_FUNC PyInit__taper(void) { return taper::python::make_module(); }
