// PyTorch's tensors are asked directly, which is fastest and knows every dtype; then come the
// buffer protocol (NumPy, array, memoryview) and DLPack (everything else).

#include "bindings/python/src/input.h"

#include <algorithm>
#include <cstring>

#include "bindings/python/src/torch_library.h"

namespace taper::python {
namespace {

std::string sizes_text(const std::vector<int64_t>& sizes) {
  std::string text = "(";
  for (size_t d = 0; d < sizes.size(); ++d) {
    text += (d == 0 ? "" : ", ") + std::to_string(sizes[d]);
  }
  return text + ")";
}

// A dtype from the letter of the struct module; -1 if there is none.
int dtype_of_format(const char* format, Py_ssize_t item) {
  if (format == nullptr) return static_cast<int>(ScalarType::kByte);
  if (*format == '=' || *format == '<' || *format == '@') ++format;
  const std::string letter = format;
  static const std::pair<const char*, ScalarType> integers[] = {{"bhilq", ScalarType::kChar},
                                                                {"BHILQ", ScalarType::kByte}};
  for (const auto& [letters, kind] : integers) {
    if (letter.size() != 1 || std::strchr(letters, letter[0]) == nullptr) continue;
    const bool is_signed = kind == ScalarType::kChar;
    switch (item) {
      case 1:
        return static_cast<int>(kind);
      case 2:
        return static_cast<int>(is_signed ? ScalarType::kShort : ScalarType::kUInt16);
      case 4:
        return static_cast<int>(is_signed ? ScalarType::kInt : ScalarType::kUInt32);
      default:
        return static_cast<int>(is_signed ? ScalarType::kLong : ScalarType::kUInt64);
    }
  }
  for (const ScalarType each :
       {ScalarType::kHalf, ScalarType::kFloat, ScalarType::kDouble, ScalarType::kComplexFloat,
        ScalarType::kComplexDouble, ScalarType::kBool}) {
    if (letter == format_of(each)) return static_cast<int>(each);
  }
  return -1;
}

int dtype_of_dlpack(const DlDtype& dtype) {
  if (dtype.lanes != 1) return -1;
  for (int number = 0; number < 30; ++number) {
    const auto type = static_cast<ScalarType>(number);
    if (!is_valid(type) || element_size(type) * 8 != dtype.bits) continue;
    const bool is_unsigned = type == ScalarType::kByte || type == ScalarType::kUInt16 ||
                             type == ScalarType::kUInt32 || type == ScalarType::kUInt64;
    const int kind = type == ScalarType::kBool       ? 6
                     : type == ScalarType::kBFloat16 ? 4
                     : is_complex(type)              ? 5
                     : is_floating(type)             ? 2
                     : is_unsigned                   ? 1
                                                     : 0;
    if (kind == dtype.kind) return number;
  }
  return -1;
}

bool read_integers(PyObject* sequence, std::vector<int64_t>* to) {
  const Py_ssize_t count = PyTuple_Size(sequence);
  if (count < 0) return false;
  to->resize(static_cast<size_t>(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    (*to)[static_cast<size_t>(i)] = PyLong_AsLongLong(PyTuple_GetItem(sequence, i));
  }
  return PyErr_Occurred() == nullptr;
}

// Whether an attribute of the object, called if it is a method, is true; false if it has none.
bool is_true(PyObject* object, const char* name, bool call) {
  const Ref found(call ? PyObject_CallMethod(object, name, nullptr)
                       : PyObject_GetAttrString(object, name));
  if (!found) PyErr_Clear();
  return found && PyObject_IsTrue(found.get()) == 1;
}

// Whether a method of PyTorch's, taken from its type, returns true for the object.
bool says(PyObject* method, PyObject* object) {
  const Ref answer(PyObject_CallFunctionObjArgs(method, object, nullptr));
  if (!answer) PyErr_Clear();
  return answer.get() != Py_False;
}

// Calls visit(i, offset) for each element in row-major order, with its offset by the strides.
template <typename Visit>
void for_each_element(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides,
                      const Visit& visit) {
  size_t count = 1;
  for (const int64_t size : sizes) count *= static_cast<size_t>(size);
  std::vector<int64_t> at(sizes.size());
  int64_t offset = 0;  // In elements.
  for (size_t i = 0; i < count; ++i) {
    visit(i, offset);
    for (size_t d = sizes.size(); d-- > 0;) {
      offset += strides[d];
      if (++at[d] < sizes[d]) break;
      offset -= strides[d] * sizes[d];
      at[d] = 0;
    }
  }
}

}  // namespace

InputView::~InputView() {
  if (buffer_.obj != nullptr) PyBuffer_Release(&buffer_);
}

std::string InputView::place(size_t index) const { return kind_ + (" " + std::to_string(index)); }

std::string InputView::text() const {
  return std::string(to_string(dtype_)) + " " + sizes_text(sizes_);
}

bool InputView::open(PyObject* object, size_t index) {
  const TorchLibrary& torch = torch_library();
  if (torch.exchange != nullptr && open_exchanged(object)) return true;
  const int is_torch = torch.tensor == nullptr ? 0 : PyObject_IsInstance(object, torch.tensor);
  if (is_torch != 0) return is_torch == 1 && open_torch(object, index);
  if (PyObject_CheckBuffer(object) != 0) return open_buffer(object, index);
  if (PyObject_HasAttrString(object, "__dlpack__") != 0) return open_dlpack(object, index);
  const Ref type(PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__name__"));
  PyErr_Format(error_type,
               "%s %zu: expected a tensor (of NumPy, PyTorch, or anything with buffers or DLPack), "
               "given %S",
               kind_, index, type.get());
  return false;
}

bool InputView::open_buffer(PyObject* object, size_t index) {
  if (PyObject_GetBuffer(object, &buffer_, PyBUF_RECORDS_RO) != 0) {
    PyErr_Clear();  // NumPy has no format for some of its dtypes, but may have DLPack for them.
    if (PyObject_HasAttrString(object, "__dlpack__") != 0) return open_dlpack(object, index);
    raise(error_type, place(index) + ": its memory cannot be read as a tensor");
    return false;
  }
  const int dtype = dtype_of_format(buffer_.format, buffer_.itemsize);
  if (dtype < 0) {
    raise(error_type, place(index) + ": a tensor of format '" + buffer_.format +
                          "' has no dtype that programs know");
    return false;
  }
  dtype_ = static_cast<ScalarType>(dtype);
  data_ = buffer_.buf;
  is_read_only_ = buffer_.readonly != 0;
  const auto rank = static_cast<size_t>(buffer_.ndim);
  sizes_.assign(buffer_.shape, buffer_.shape + rank);
  strides_.resize(rank);
  Py_ssize_t row_major = buffer_.itemsize;
  for (size_t d = rank; d-- > 0; row_major *= buffer_.shape[d]) {
    // Arrays of ctypes do not say how they lie, although they are asked.
    const Py_ssize_t stride = buffer_.strides == nullptr ? row_major : buffer_.strides[d];
    if (stride % buffer_.itemsize != 0) {
      raise(error_type, place(index) + ": its strides are no whole elements; pass a copy");
      return false;
    }
    strides_[d] = stride / buffer_.itemsize;
  }
  return true;
}

// Why a tensor of PyTorch's has no strides or no address. Returns false.
bool InputView::refuse_layout(PyObject* object, size_t index) const {
  PyErr_Clear();
  const Ref layout(PyObject_GetAttrString(object, "layout"));
  const Ref text(layout ? PyObject_Str(layout.get()) : nullptr);
  if (!text) return false;
  if (PyUnicode_CompareWithASCIIString(text.get(), "torch.strided") == 0) {
    raise(error_type, place(index) + " has no memory of its own; pass a plain tensor");
  } else {
    PyErr_Format(error_type, "%s %zu has the layout %S; call .to_dense() first", kind_, index,
                 text.get());
  }
  return false;
}

// Looks at a tensor of PyTorch's by DLPack's C functions, which takes the least time. Returns false
// for everything that is special about one: open_torch() knows what to say.
bool InputView::open_exchanged(PyObject* object) {
  const TorchLibrary& torch = torch_library();
  const auto* const type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  if (type != torch.tensor && type != torch.parameter) return false;
  DlTensor tensor;
  if (torch.exchange->look_at(object, &tensor) != 0) {
    PyErr_Clear();
    return false;
  }
  const int dtype = dtype_of_dlpack(tensor.dtype);
  if (dtype < 0 || tensor.device.kind != kDlCpu) return false;
  const auto known = static_cast<ScalarType>(dtype);
  if (((is_floating(known) || is_complex(known)) && says(torch.is_neg, object)) ||
      (is_complex(known) && says(torch.is_conj, object))) {
    return false;
  }
  take(tensor, known);
  Py_INCREF(object);
  owner_ = Ref(object);
  return true;
}

bool InputView::open_torch(PyObject* object, size_t index) {
  if (!is_true(object, "is_cpu", false)) {
    const Ref device(PyObject_GetAttrString(object, "device"));
    PyErr_Format(error_type, "%s %zu is on device %S; call .cpu() first", kind_, index,
                 device.get());
    return false;
  }
  if (is_true(object, "is_neg", true) || is_true(object, "is_conj", true)) {
    raise(error_type,
          place(index) + " is a lazy conjugate or negation; call .resolve_conj().resolve_neg()");
    return false;
  }
  const Ref dtype(PyObject_GetAttrString(object, "dtype"));
  PyObject* const number =
      dtype ? PyDict_GetItemWithError(torch_library().dtypes, dtype.get()) : nullptr;
  if (number == nullptr) {
    if (PyErr_Occurred() == nullptr) {
      PyErr_Format(error_type, "%s %zu: programs have no dtype %S", kind_, index, dtype.get());
    }
    return false;
  }
  dtype_ = static_cast<ScalarType>(PyLong_AsLong(number));
  const Ref sizes(PyObject_GetAttrString(object, "shape"));
  const Ref strides(PyObject_CallMethod(object, "stride", nullptr));
  const Ref address(PyObject_CallMethod(object, "data_ptr", nullptr));
  if (!sizes || !strides || !address) return refuse_layout(object, index);
  data_ = PyLong_AsVoidPtr(address.get());
  Py_INCREF(object);
  owner_ = Ref(object);
  return read_integers(sizes.get(), &sizes_) && read_integers(strides.get(), &strides_) &&
         PyErr_Occurred() == nullptr;
}

bool InputView::open_dlpack(PyObject* object, size_t index) {
  owner_ = Ref(PyObject_CallMethod(object, "__dlpack__", nullptr));
  if (!owner_) return false;
  const auto* const managed =
      static_cast<DlManagedTensor*>(PyCapsule_GetPointer(owner_.get(), "dltensor"));
  if (managed == nullptr) {
    PyErr_Clear();
    raise(error_type, place(index) + ": its __dlpack__() gives no DLPack tensor");
    return false;
  }
  const DlTensor& tensor = managed->tensor;
  if (tensor.device.kind != kDlCpu) {
    raise(error_type, place(index) + " is not in the processor's memory (DLPack device " +
                          std::to_string(tensor.device.kind) + "); copy it there first");
    return false;
  }
  const int dtype = dtype_of_dlpack(tensor.dtype);
  if (dtype < 0 || tensor.rank < 0) {
    raise(error_type, place(index) + " has no dtype that programs know");
    return false;
  }
  take(tensor, static_cast<ScalarType>(dtype));
  is_read_only_ = true;  // DLPack does not say.
  return true;
}

void InputView::take(const DlTensor& tensor, ScalarType dtype) {
  dtype_ = dtype;
  data_ = static_cast<uint8_t*>(tensor.data) + tensor.offset;
  sizes_.assign(tensor.sizes, tensor.sizes + tensor.rank);
  strides_.resize(sizes_.size());
  int64_t stride = 1;
  for (size_t d = sizes_.size(); d-- > 0; stride *= sizes_[d]) {
    strides_[d] = tensor.strides == nullptr ? stride : tensor.strides[d];
  }
}

bool InputView::fit(const TensorInfo& info, size_t index) {
  const bool dynamic = info.shape_dynamism() != ShapeDynamism::kStatic;
  const Span<const int32_t> declared = info.sizes();
  bool fits = dtype_ == info.scalar_type() && sizes_.size() == declared.size();
  for (size_t d = 0; fits && d < sizes_.size(); ++d) {
    fits = sizes_[d] == declared[d] || (dynamic && sizes_[d] < declared[d]);
  }
  if (!fits) {
    const std::string dtype = to_string(info.scalar_type());
    raise(error_type, place(index) + ": expected " + dtype + " " +
                          sizes_text({declared.begin(), declared.end()}) +
                          (dynamic ? " at most" : "") + ", given " + text() +
                          (dtype_ == info.scalar_type() ? "" : "; convert it to " + dtype));
    return false;
  }
  if (data_ == nullptr && std::find(sizes_.begin(), sizes_.end(), 0) == sizes_.end()) {
    raise(error_type, place(index) + " has no data: there is no memory behind it");
    return false;
  }
  const bool is_aligned =
      reinterpret_cast<uintptr_t>(data_) % element_size(info.scalar_type()) == 0;
  const bool may_be_written = !info.is_memory_planned() && is_read_only_;
  if (!is_in_order(info) || !is_aligned || may_be_written) {
    if (!copy(info)) return false;
  }
  for (size_t d = 0; d < sizes_.size(); ++d) {
    declared_sizes_[d] = static_cast<int32_t>(sizes_[d]);
    dim_order_[d] = info.dim_order()[d];
  }
  tensor_ = Tensor(dtype_, sizes_.size(), declared_sizes_, dim_order_, declared_strides_, data_);
  return true;
}

// Whether the elements lie as the program expects them. Strides of sizes 0 and 1 mean nothing.
bool InputView::is_in_order(const TensorInfo& info) const {
  int64_t stride = 1;
  for (size_t i = sizes_.size(); i-- > 0;) {
    const size_t d = info.dim_order()[i];
    if (sizes_[d] == 0) return true;
    if (sizes_[d] != 1 && strides_[d] != stride) return false;
    stride *= sizes_[d];
  }
  return true;
}

// The sizes and strides of the caller's elements, from the outermost in the declared order.
void InputView::order(const TensorInfo& info) {
  for (const uint8_t d : info.dim_order()) {
    ordered_sizes_.push_back(sizes_[d]);
    ordered_strides_.push_back(strides_[d]);
  }
}

bool InputView::copy(const TensorInfo& info) {
  order(info);
  uint64_t bytes = element_size(dtype_);
  for (const int64_t size : sizes_) bytes *= static_cast<uint64_t>(size);
  copy_ = allocate_elements(bytes);
  if (copy_ == nullptr) {
    PyErr_NoMemory();
    return false;
  }
  gather(copy_.get(), static_cast<const uint8_t*>(data_), ordered_sizes_, ordered_strides_,
         element_size(dtype_));
  original_ = std::exchange(data_, copy_.get());
  may_be_written_ = !info.is_memory_planned() && !is_read_only_;
  return true;
}

void InputView::write_back() const {
  if (copy_ == nullptr || !may_be_written_) return;
  scatter(static_cast<uint8_t*>(original_), copy_.get(), ordered_sizes_, ordered_strides_,
          element_size(dtype_));
}

bool read_plain(PyObject* object, EValue* to, std::string* text) {
  if (object == Py_None) {
    *to = EValue();
  } else if (PyBool_Check(object)) {
    *to = EValue(object == Py_True);
  } else if (PyIndex_Check(object) != 0) {  // Also integers of NumPy's.
    const Ref number(PyNumber_Index(object));
    if (number) *to = EValue(static_cast<int64_t>(PyLong_AsLongLong(number.get())));
  } else if (PyFloat_Check(object) || PyObject_HasAttrString(object, "__float__") != 0) {
    const Ref number(PyNumber_Float(object));
    if (number) *to = EValue(PyFloat_AsDouble(number.get()));
  } else if (PyUnicode_Check(object)) {
    Py_ssize_t size = 0;
    const char* const bytes = PyUnicode_AsUTF8AndSize(object, &size);
    if (bytes == nullptr) return false;
    text->assign(bytes, static_cast<size_t>(size));
    *to = EValue(text->data(), static_cast<uint32_t>(text->size()));
  } else {
    return false;
  }
  return PyErr_Occurred() == nullptr;
}

void gather(uint8_t* to, const uint8_t* from, const std::vector<int64_t>& sizes,
            const std::vector<int64_t>& strides, size_t element) {
  for_each_element(sizes, strides, [&](size_t i, int64_t at) {
    std::memcpy(to + i * element, from + at * static_cast<int64_t>(element), element);
  });
}

void scatter(uint8_t* to, const uint8_t* from, const std::vector<int64_t>& sizes,
             const std::vector<int64_t>& strides, size_t element) {
  for_each_element(sizes, strides, [&](size_t i, int64_t at) {
    std::memcpy(to + at * static_cast<int64_t>(element), from + i * element, element);
  });
}

}  // namespace taper::python
