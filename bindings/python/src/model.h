// _taper.Model: a program that is loaded, its threads and backends, and how Python runs it. The
// package's Python half gives it names and structure.

#pragma once

#include "bindings/python/src/python.h"

namespace taper::python {

// Creates the type, or returns null with an exception set.
PyObject* make_model_type();

}  // namespace taper::python
