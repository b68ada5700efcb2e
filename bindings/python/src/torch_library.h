// What is known of PyTorch, to which nothing here is linked: its types, and the C functions by
// which DLPack looks at its tensors and makes them.

#pragma once

#include "bindings/python/src/dlpack.h"
#include "bindings/python/src/python.h"

namespace taper::python {

struct TorchLibrary {
  PyObject* tensor = nullptr;     // torch.Tensor; null while PyTorch is not known.
  PyObject* parameter = nullptr;  // torch.nn.Parameter
  PyObject* dtypes = nullptr;     // A dict from PyTorch's dtypes to their numbers.
  PyObject* is_neg = nullptr;     // torch.Tensor.is_neg
  PyObject* is_conj = nullptr;
  const DlExchange* exchange = nullptr;  // Null before PyTorch 2.10.
};

const TorchLibrary& torch_library();

// know_torch(torch.Tensor, torch.nn.Parameter, {dtype: number}) -> whether it has C functions.
PyObject* know_torch(PyObject* module, PyObject* args);

}  // namespace taper::python
