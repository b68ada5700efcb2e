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

// Calls `visit(i, buffer)`, which returns a Status, for each buffer of a method, under the model's
// lock and without the interpreter's. Returns what is wrong.
template <typename Visit>
std::string visit_buffers(Loaded& loaded, const char* name, size_t count, const Visit& visit) {
  return in_turn(loaded, [&]() -> std::string {
    Module& module = *loaded.module;
    const Status status = module.load_method(name);
    if (!status.ok()) return problem_of(module, status);
    const Method* const method = module.method(name);
    if (method->has_state_in_delegates()) {
      return "method '" + std::string(name) +
             "': a delegate keeps buffers, which cannot be read or set";
    }
    for (size_t i = 0; i < count; ++i) {
      const Status visited = visit(i, *method->attribute(i));
      if (!visited.ok()) return visited.message();
    }
    return "";
  });
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
  return with_method(self, name, [&](Loaded& loaded, const MethodMeta& meta) -> PyObject* {
    std::vector<OutputHeld> held(meta.num_attributes());
    const std::string problem = visit_buffers(
        loaded, name, held.size(),
        [&](size_t i, Tensor* buffer) { return take_output(EValue(buffer), &held[i]); });
    if (!problem.empty()) return raise(error_type, problem);
    Ref dict(PyDict_New());
    for (size_t i = 0; dict && i < held.size(); ++i) {
      const Ref key(text_of(state_name(meta, i))), item(output_object(&held[i], make));
      if (!key || !item || PyDict_SetItem(dict.get(), key.get(), item.get()) != 0) return nullptr;
    }
    return dict.release();
  });
}

PyObject* set_state(PyObject* self, PyObject* args) {
  const char* name = nullptr;
  PyObject* given = nullptr;
  if (PyArg_ParseTuple(args, "sO!", &name, &PyDict_Type, &given) == 0) return nullptr;
  return with_method(self, name, [&](Loaded& loaded, const MethodMeta& meta) -> PyObject* {
    std::list<InputView> views;
    for (size_t i = 0; i < meta.num_attributes(); ++i) {
      const Ref key(text_of(state_name(meta, i)));
      PyObject* const item = key ? PyDict_GetItemWithError(given, key.get()) : nullptr;
      if (item == nullptr) return raise(error_type, "no buffer '" + state_name(meta, i) + "'");
      InputView& view = views.emplace_back("buffer");
      if (!view.open(item, i) || !view.fit(*meta.attribute_tensor_meta(i), i)) return nullptr;
    }
    auto next = views.begin();
    const std::string problem = visit_buffers(
        loaded, name, views.size(),
        [&](size_t, Tensor* buffer) { return set_buffer(buffer, next++->value().to_tensor()); });
    if (!problem.empty()) return raise(error_type, problem);
    Py_RETURN_NONE;
  });
}

}  // namespace taper::python
