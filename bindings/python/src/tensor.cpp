// The type is made from a table of slots, as the stable ABI asks. An exported DLPack tensor keeps
// the elements alive, but not the Python object, so it may be released on any thread.

#include "bindings/python/src/tensor.h"

#include <algorithm>
#include <memory>
#include <new>

#include "bindings/python/src/dlpack.h"
#include "bindings/python/src/torch_library.h"
#include "taper/tensor.h"

namespace taper::python {
namespace {

constexpr size_t kAlignment = 64;

struct TensorObject {
  PyObject base;
  ScalarType dtype;
  uint64_t bytes;
  size_t rank;
  int64_t sizes[kMaxRank];
  Py_ssize_t shape[kMaxRank], strides[kMaxRank];  // For buffers; strides in bytes.
  Elements elements;
};

PyTypeObject* tensor_type = nullptr;

TensorObject& of(PyObject* self) { return *reinterpret_cast<TensorObject*>(self); }

void destroy(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  of(self).elements.~shared_ptr();
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  TensorObject& tensor = of(self);
  const char* const format = format_of(tensor.dtype);
  if (format == nullptr) {
    view->obj = nullptr;
    const std::string name = to_string(tensor.dtype);
    PyErr_SetString(PyExc_BufferError,
                    ("Python's buffers have no " + name + "; use DLPack").c_str());
    return -1;
  }
  view->buf = tensor.elements.get();
  view->len = static_cast<Py_ssize_t>(tensor.bytes);
  view->readonly = 0;
  view->itemsize = static_cast<Py_ssize_t>(element_size(tensor.dtype));
  view->format = (flags & PyBUF_FORMAT) != 0 ? const_cast<char*>(format) : nullptr;
  view->ndim = static_cast<int>(tensor.rank);
  view->shape = (flags & PyBUF_ND) != 0 ? tensor.shape : nullptr;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? tensor.strides : nullptr;
  view->suboffsets = nullptr;
  view->internal = nullptr;
  Py_INCREF(self);
  view->obj = self;
  return 0;
}

DlDtype dl_dtype(ScalarType type) {
  const auto bits = static_cast<uint8_t>(element_size(type) * 8);
  switch (type) {
    case ScalarType::kBool:
      return {6, bits, 1};
    case ScalarType::kBFloat16:
      return {4, bits, 1};
    case ScalarType::kByte:
    case ScalarType::kUInt16:
    case ScalarType::kUInt32:
    case ScalarType::kUInt64:
      return {1, bits, 1};
    default:
      return {static_cast<uint8_t>(is_complex(type) ? 5 : is_floating(type) ? 2 : 0), bits, 1};
  }
}

// A DLPack tensor of either form, together with what it points to.
template <typename Managed>
struct Exported {
  explicit Exported(const TensorObject& from) : elements(from.elements) {
    std::copy_n(from.sizes, from.rank, sizes);
    DlTensor& to = managed.tensor;
    to.data = from.elements.get();
    to.device = {kDlCpu, 0};
    to.rank = static_cast<int32_t>(from.rank);
    to.dtype = dl_dtype(from.dtype);
    to.sizes = sizes;
    managed.owner = this;
    managed.release = [](Managed* self) { delete static_cast<Exported*>(self->owner); };
  }

  Managed managed = {};
  int64_t sizes[kMaxRank];
  Elements elements;
};

// Nobody took the tensor out of the capsule.
void destroy_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, "dltensor") == 0) return;
  auto* const managed = static_cast<DlManagedTensor*>(PyCapsule_GetPointer(capsule, "dltensor"));
  managed->release(managed);
}

PyObject* to_dlpack(PyObject* self, PyObject*, PyObject*) {
  auto exported = std::make_unique<Exported<DlManagedTensor>>(of(self));
  PyObject* const capsule = PyCapsule_New(&exported->managed, "dltensor", destroy_capsule);
  if (capsule != nullptr) static_cast<void>(exported.release());
  return capsule;
}

PyObject* dlpack_device(PyObject*, PyObject*) { return Py_BuildValue("(ii)", kDlCpu, 0); }

PyObject* shape_of(PyObject* self, void*) {
  const TensorObject& tensor = of(self);
  PyObject* const shape = PyTuple_New(static_cast<Py_ssize_t>(tensor.rank));
  for (size_t i = 0; shape != nullptr && i < tensor.rank; ++i) {
    PyTuple_SetItem(shape, static_cast<Py_ssize_t>(i), PyLong_FromLongLong(tensor.sizes[i]));
  }
  return shape;
}

PyObject* dtype_of(PyObject* self, void*) { return text_of(to_string(of(self).dtype)); }

PyObject* size_of(PyObject* self, void*) { return PyLong_FromUnsignedLongLong(of(self).bytes); }

PyObject* to_list(PyObject* self, PyObject*) {
  const Ref view(PyMemoryView_FromObject(self));
  return view ? PyObject_CallMethod(view.get(), "tolist", nullptr) : nullptr;
}

PyObject* describe(PyObject* self) {
  const Ref shape(shape_of(self, nullptr));
  if (!shape) return nullptr;
  return PyUnicode_FromFormat("taper.Tensor(%s, shape=%R)", to_string(of(self).dtype), shape.get());
}

PyMethodDef methods[] = {
    {"__dlpack__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(to_dlpack)),
     METH_VARARGS | METH_KEYWORDS, "The elements as a DLPack capsule, not copied."},
    {"__dlpack_device__", dlpack_device, METH_NOARGS, "Always the processor: (1, 0)."},
    {"tolist", to_list, METH_NOARGS, "The elements as nested lists."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef attributes[] = {
    {"shape", shape_of, nullptr, "The sizes, a tuple of int.", nullptr},
    {"dtype", dtype_of, nullptr, "The name of the dtype, such as 'float32'.", nullptr},
    {"nbytes", size_of, nullptr, "The size of the elements in bytes.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

constexpr char kDoc[] =
    "What a program returns where there is neither NumPy nor PyTorch.\n\n"
    "memoryview(), numpy.asarray() and torch.from_dlpack() take it without a copy.";

}  // namespace

const char* format_of(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::kByte:
      return "B";
    case ScalarType::kChar:
      return "b";
    case ScalarType::kShort:
      return "h";
    case ScalarType::kInt:
      return "i";
    case ScalarType::kLong:
      return "q";
    case ScalarType::kHalf:
      return "e";
    case ScalarType::kFloat:
      return "f";
    case ScalarType::kDouble:
      return "d";
    case ScalarType::kComplexFloat:
      return "Zf";
    case ScalarType::kComplexDouble:
      return "Zd";
    case ScalarType::kBool:
      return "?";
    case ScalarType::kUInt16:
      return "H";
    case ScalarType::kUInt32:
      return "I";
    case ScalarType::kUInt64:
      return "Q";
    case ScalarType::kComplexHalf:
    case ScalarType::kBFloat16:
      return nullptr;
  }
  return nullptr;
}

Elements allocate_elements(uint64_t bytes) {
  if (bytes > (uint64_t{1} << 46)) return nullptr;
  const size_t rounded = (static_cast<size_t>(bytes) / kAlignment + 1) * kAlignment;
  constexpr std::align_val_t alignment{kAlignment};
  void* const memory = ::operator new(rounded, alignment, std::nothrow);
  if (memory == nullptr) return nullptr;
  return Elements(static_cast<uint8_t*>(memory),
                  [](uint8_t* p) { ::operator delete(p, alignment); });
}

PyObject* make_tensor_type() {
  PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
                         {Py_tp_repr, reinterpret_cast<void*>(describe)},
                         {Py_tp_methods, methods},
                         {Py_tp_getset, attributes},
                         {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
                         {Py_tp_doc, const_cast<char*>(kDoc)},
                         {0, nullptr}};
  PyType_Spec spec = {"taper.Tensor", sizeof(TensorObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  PyObject* const made = PyType_FromSpec(&spec);
  tensor_type = reinterpret_cast<PyTypeObject*>(made);
  return made;
}

PyObject* make_tensor(ScalarType dtype, const std::vector<int64_t>& sizes, Elements elements,
                      uint64_t bytes) {
  auto* const allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(tensor_type, Py_tp_alloc));
  PyObject* const self = allocate(tensor_type, 0);
  if (self == nullptr) return nullptr;
  TensorObject& tensor = of(self);
  tensor.dtype = dtype;
  tensor.bytes = bytes;
  tensor.rank = sizes.size();
  std::copy_n(sizes.begin(), tensor.rank, tensor.sizes);
  std::copy_n(sizes.begin(), tensor.rank, tensor.shape);
  new (&tensor.elements) Elements(std::move(elements));
  auto stride = static_cast<Py_ssize_t>(element_size(dtype));
  for (size_t d = tensor.rank; d-- > 0; stride *= tensor.shape[d]) tensor.strides[d] = stride;
  return self;
}

PyObject* to_torch(PyObject*, PyObject* tensor) {
  const DlExchange* const exchange = torch_library().exchange;
  if (Py_TYPE(tensor) != tensor_type || exchange == nullptr) {
    PyErr_SetString(PyExc_TypeError, "expected a taper.Tensor, and a PyTorch that is known");
    return nullptr;
  }
  auto exported = std::make_unique<Exported<DlVersionedTensor>>(of(tensor));
  exported->managed.version = {1, 0};
  void* made = nullptr;
  // Whether PyTorch has taken it when it fails is not known; a leak is the lesser evil then.
  const bool ok = exchange->make(&exported.release()->managed, &made) == 0;
  return ok ? static_cast<PyObject*>(made) : nullptr;
}

}  // namespace taper::python
