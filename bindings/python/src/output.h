// What a program gives, on its way to Python: elements that belong to the caller, or a plain value.

#pragma once

#include <cstdint>
#include <vector>

#include "bindings/python/src/python.h"
#include "bindings/python/src/tensor.h"
#include "taper/evalue.h"

namespace taper::python {

// An output: its elements and sizes, or a value that is no tensor.
struct OutputHeld {
  ScalarType dtype = ScalarType::kByte;
  std::vector<int64_t> sizes;
  Elements elements;  // Null for a value.
  uint64_t bytes = 0;
  EValue value;
};

// Copies what a program gives, unless it lies in the elements already. May be called without the
// interpreter's lock.
Status take_output(const EValue& value, OutputHeld* to);

// An output as an object: what `make` makes of its taper.Tensor, or a plain value. With None for
// `make`, the taper.Tensor.
PyObject* output_object(OutputHeld* output, PyObject* make);

// None, a number or a text as an object.
PyObject* plain_object(const EValue& value);

}  // namespace taper::python
