// What a model of Python's consists of, and what every call of one begins with: it must be open
// and loaded by this process. What is thrown, and what the module refuses, becomes an exception.

#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bindings/python/src/python.h"
#include "bindings/python/src/tensor.h"
#include "taper/module.h"
#include "tools/backends.h"

namespace taper::python {

// The parts of a model, in the order in which they depend on each other.
struct Loaded {
  explicit Loaded(const tools::BackendOptions& options);

  std::mutex mutex;
  std::atomic<std::thread::id> user = {};  // The thread that has the lock.
  tools::Backends backends;
  std::vector<Backend> table;  // The backends that the caller wants.
  std::vector<KernelTable> kernels;
  Elements bytes;  // The program, unless it is a file.
  std::optional<Module> module;
  unsigned long long process;  // How many forks it stems from.
};

struct ModelObject {
  PyObject base;
  std::shared_ptr<Loaded> loaded;  // Null once the model is closed.
};

inline ModelObject& model_of(PyObject* self) { return *reinterpret_cast<ModelObject*>(self); }

// The lock of a model during a call; others wait for it. An operator that Python implements may
// come here on the thread that runs it: that would wait for itself, so it is refused.
class Turn {
 public:
  explicit Turn(Loaded& loaded);
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn();

  // Why the call must not go on; empty if it may.
  std::string problem() const;

 private:
  Loaded& loaded_;
  const bool is_nested_;
};

// Whether this process has loaded the model. A forked one has none of its threads.
bool is_of_this_process(const Loaded& loaded);

// The model, or null with an exception set.
std::shared_ptr<Loaded> opened(PyObject* self);

// What the module says of its last error.
std::string problem_of(const Module& module, const Status& status);

// Calls it; what is thrown becomes an exception of Python.
template <typename Call>
PyObject* guarded(const Call& call) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  } catch (const std::exception& error) {
    return raise(error_type, error.what());
  }
}

// Calls `call(loaded, meta)` with a model and the description of a method of it. Raises if the
// model is not open or has no such method.
template <typename Call>
PyObject* with_method(PyObject* self, const char* name, const Call& call) {
  const std::shared_ptr<Loaded> loaded = opened(self);
  if (loaded == nullptr) return nullptr;
  return guarded([&]() -> PyObject* {
    const Result<MethodMeta> meta = loaded->module->program()->method_meta(name);
    if (!meta.ok()) {
      return raise(error_type, "method '" + std::string(name) + "': " + meta.status().message());
    }
    return call(*loaded, *meta);
  });
}

// Calls it under the model's lock and without the interpreter's. Returns what is wrong: what it
// says, or why it must not go on.
template <typename Work>
std::string in_turn(Loaded& loaded, const Work& work) {
  const Unlocked unlocked;
  const Turn turn(loaded);
  const std::string problem = turn.problem();
  return problem.empty() ? work() : problem;
}

// note_fork(): this process is a fork.
PyObject* note_fork(PyObject* module, PyObject* unused);

}  // namespace taper::python
