// A process counts the forks that it stems from, and a model remembers the number.

#include "bindings/python/src/loaded.h"

namespace taper::python {
namespace {

unsigned long long forks = 0;

}  // namespace

Loaded::Loaded(const tools::BackendOptions& options) : backends(options), process(forks) {}

Turn::Turn(Loaded& loaded)
    : loaded_(loaded), is_nested_(loaded.user.load() == std::this_thread::get_id()) {
  if (is_nested_) return;
  loaded_.mutex.lock();
  loaded_.user = std::this_thread::get_id();
}

Turn::~Turn() {
  if (is_nested_) return;
  loaded_.user = std::thread::id();
  loaded_.mutex.unlock();
}

std::string Turn::problem() const {
  return is_nested_ ? "the model is running: an operator that it calls cannot use it" : "";
}

bool is_of_this_process(const Loaded& loaded) { return loaded.process == forks; }

std::shared_ptr<Loaded> opened(PyObject* self) {
  std::shared_ptr<Loaded> loaded = model_of(self).loaded;
  if (loaded == nullptr) {
    raise(closed_type, "the model is closed");
  } else if (!is_of_this_process(*loaded)) {
    raise(error_type,
          "the process was forked after this model was loaded; load it in the new process");
    loaded.reset();
  }
  return loaded;
}

std::string problem_of(const Module& module, const Status& status) {
  const std::string& lines = module.last_error_text();
  return lines.empty() ? std::string(status.message()) : lines;
}

PyObject* note_fork(PyObject*, PyObject*) {
  ++forks;
  Py_RETURN_NONE;
}

}  // namespace taper::python
