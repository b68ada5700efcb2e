// state() and set_state() of a model: what its buffers hold between two runs, to be saved.

#pragma once

#include "bindings/python/src/python.h"

namespace taper::python {

// state(method, make) -> dict of copies of what the method's buffers hold
PyObject* state(PyObject* self, PyObject* args);

// set_state(method, dict): the buffers hold what state() gave.
PyObject* set_state(PyObject* self, PyObject* args);

}  // namespace taper::python
