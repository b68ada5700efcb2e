// state() and set_state() of a model: what its buffers hold between two runs, to be saved.

#pragma once

#include <string>

#include "bindings/python/src/python.h"
#include "taper/method_meta.h"

namespace taper::python {

// The name of buffer `i` of a method; "state0" and so on where the program has none.
std::string state_name(const MethodMeta& meta, size_t i);

// state(method, make) -> dict of copies of what the method's buffers hold
PyObject* state(PyObject* self, PyObject* args);

// set_state(method, dict): the buffers hold what state() gave.
PyObject* set_state(PyObject* self, PyObject* args);

}  // namespace taper::python
