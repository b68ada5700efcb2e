// All buffers are looked at before the first is written, so that a state that does not fit changes
// nothing.

#include "bindings/python/src/state.h"

#include <cstring>
#include <list>

#include "bindings/python/src/input.h"
#include "bindings/python/src/loaded.h"
#include "bindings/python/src/output.h"

namespace taper::python {
namespace {

// The method, loaded; null with `problem` set, or if it is set already. Under the model's lock.
Method* method_with_state(Module& module, const char* name, std::string* problem) {
  if (!problem->empty()) return nullptr;
  const Status loaded = module.load_method(name);
  if (!loaded.ok()) {
    *problem = problem_of(module, loaded);
    return nullptr;
  }
  Method* const method = module.method(name);
  if (method->has_state_in_delegates()) {
    *problem =
        "method '" + std::string(name) + "': a delegate keeps buffers, which cannot be read or set";
    return nullptr;
  }
  return method;
}

// Puts the elements of a view, which fits, into a buffer.
Status set_buffer(Tensor* buffer, const Tensor& from) {
  TAPER_TRY(buffer->resize(from.sizes()));
  if (from.nbytes() != 0) std::memcpy(buffer->mutable_data(), from.const_data(), from.nbytes());
  return {};
}

}  // namespace

std::string state_name(const MethodMeta& meta, size_t i) {
  const std::string name(meta.attribute_tensor_meta(i)->name());
  return name.empty() ? "state" + std::to_string(i) : name;
}

PyObject* state(PyObject* self, PyObject* args) {
  const char* name = nullptr;
  PyObject* make = nullptr;
  if (PyArg_ParseTuple(args, "sO", &name, &make) == 0) return nullptr;
  const std::shared_ptr<Loaded> loaded = opened(self);
  if (loaded == nullptr) return nullptr;
  return guarded([&]() -> PyObject* {
    Module& module = *loaded->module;
    const Result<MethodMeta> meta = module.program()->method_meta(name);
    if (!meta.ok()) return refuse_method(name, meta.status());
    std::vector<OutputHeld> held(meta->num_attributes());
    std::string problem;
    {
      const Unlocked unlocked;
      const Turn turn(*loaded);
      problem = turn.problem();
      const Method* const method = method_with_state(module, name, &problem);
      for (size_t i = 0; problem.empty() && i < held.size(); ++i) {
        problem = take_output(EValue(*method->attribute(i)), &held[i]).message();
      }
    }
    if (!problem.empty()) return raise(error_type, problem);
    Ref dict(PyDict_New());
    for (size_t i = 0; dict && i < held.size(); ++i) {
      const Ref key(text_of(state_name(*meta, i))), item(output_object(&held[i], make));
      if (!key || !item || PyDict_SetItem(dict.get(), key.get(), item.get()) != 0) return nullptr;
    }
    return dict.release();
  });
}

PyObject* set_state(PyObject* self, PyObject* args) {
  const char* name = nullptr;
  PyObject* given = nullptr;
  if (PyArg_ParseTuple(args, "sO!", &name, &PyDict_Type, &given) == 0) return nullptr;
  const std::shared_ptr<Loaded> loaded = opened(self);
  if (loaded == nullptr) return nullptr;
  return guarded([&]() -> PyObject* {
    Module& module = *loaded->module;
    const Result<MethodMeta> meta = module.program()->method_meta(name);
    if (!meta.ok()) return refuse_method(name, meta.status());
    std::list<InputView> views;
    for (size_t i = 0; i < meta->num_attributes(); ++i) {
      const Ref key(text_of(state_name(*meta, i)));
      PyObject* const item = key ? PyDict_GetItemWithError(given, key.get()) : nullptr;
      if (item == nullptr) return raise(error_type, "no buffer '" + state_name(*meta, i) + "'");
      InputView& view = views.emplace_back("buffer");
      if (!view.open(item, i) || !view.fit(*meta->attribute_tensor_meta(i), i)) return nullptr;
    }
    std::string problem;
    {
      const Unlocked unlocked;
      const Turn turn(*loaded);
      problem = turn.problem();
      const Method* const method = method_with_state(module, name, &problem);
      size_t i = 0;
      for (InputView& view : views) {
        if (!problem.empty()) break;
        problem = set_buffer(*method->attribute(i++), view.value().to_tensor()).message();
      }
    }
    if (!problem.empty()) return raise(error_type, problem);
    Py_RETURN_NONE;
  });
}

}  // namespace taper::python
