// taper.Tensor: what a program returns where there is neither NumPy nor PyTorch. It has shape and
// dtype, and shows its elements to others without copies: by the buffer protocol, so that
// memoryview() and numpy.asarray() take it, and by DLPack.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "bindings/python/src/python.h"
#include "taper/scalar_type.h"

namespace taper::python {

// The elements of a tensor, in row-major order, aligned to 64 bytes; shared by all that look at
// them.
using Elements = std::shared_ptr<uint8_t[]>;

// Null if there is not enough memory.
Elements allocate_elements(uint64_t bytes);

// Creates the type, or returns null with an exception set.
PyObject* make_tensor_type();

// A new taper.Tensor; null with an exception set. `bytes` is the size of its elements.
// REQUIRES: at most kMaxRank sizes.
PyObject* make_tensor(ScalarType dtype, const std::vector<int64_t>& sizes, Elements elements,
                      uint64_t bytes);

// to_torch(taper.Tensor) -> PyTorch's tensor of the same elements; null with an exception set, also
// where know_torch() has not found PyTorch's functions for it.
PyObject* to_torch(PyObject* module, PyObject* tensor);

// The format of the struct module for a dtype: "f". Null for one that it does not have.
const char* format_of(ScalarType dtype);

}  // namespace taper::python
