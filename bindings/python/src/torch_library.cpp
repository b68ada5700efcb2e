// PyTorch stays known to the end of the process, as it stays imported.

#include "bindings/python/src/torch_library.h"

namespace taper::python {
namespace {

TorchLibrary known;

// The C functions of a tensor type; null if it has none that are called here.
const DlExchange* exchange_of(PyObject* type) {
  const Ref capsule(PyObject_GetAttrString(type, kDlExchangeAttribute));
  const void* const found =
      capsule ? PyCapsule_GetPointer(capsule.get(), kDlExchangeCapsule) : nullptr;
  PyErr_Clear();
  const auto* exchange = static_cast<const DlExchange*>(found);
  while (exchange != nullptr && exchange->version.major > 1) exchange = exchange->older;
  if (exchange == nullptr || exchange->make == nullptr || exchange->look_at == nullptr) {
    return nullptr;
  }
  return exchange;
}

}  // namespace

const TorchLibrary& torch_library() { return known; }

PyObject* know_torch(PyObject*, PyObject* args) {
  TorchLibrary found;
  if (PyArg_ParseTuple(args, "OOO!", &found.tensor, &found.parameter, &PyDict_Type,
                       &found.dtypes) == 0) {
    return nullptr;
  }
  if (known.tensor == nullptr) {
    found.is_neg = PyObject_GetAttrString(found.tensor, "is_neg");
    found.is_conj = PyObject_GetAttrString(found.tensor, "is_conj");
    if (found.is_neg == nullptr || found.is_conj == nullptr) return nullptr;
    found.exchange = exchange_of(found.tensor);
    Py_INCREF(found.tensor);
    Py_INCREF(found.parameter);
    Py_INCREF(found.dtypes);
    known = found;
  }
  return PyBool_FromLong(known.exchange != nullptr ? 1 : 0);
}

}  // namespace taper::python
