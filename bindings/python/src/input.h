// What a caller passes as an input: a tensor of NumPy, PyTorch, or any library with buffers or
// DLPack, looked at without a copy; or None, a number, a text.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bindings/python/src/dlpack.h"
#include "bindings/python/src/python.h"
#include "bindings/python/src/tensor.h"
#include "taper/evalue.h"
#include "taper/method_meta.h"

namespace taper::python {

// A view of a tensor's elements. It keeps the owner alive; create and destroy it under the
// interpreter's lock.
class InputView {
 public:
  // `kind` is what errors call it, beside its index.
  explicit InputView(const char* kind = "input") : kind_(kind) {}
  InputView(const InputView&) = delete;
  InputView& operator=(const InputView&) = delete;
  ~InputView();

  // Looks at `object`. Returns false with an exception set if it is no tensor on the processor.
  bool open(PyObject* object, size_t index);

  // Holds it against the declaration of input `index`, and copies the elements if they are not in
  // the declared order, or if the program could write memory that must not be written. Returns
  // false with an exception set.
  bool fit(const TensorInfo& info, size_t index);

  // REQUIRES: fit() returned true.
  EValue value() { return EValue(&tensor_); }

  // After a run: puts what the program has written into a copy where the caller's elements are,
  // unless they must not be written. May be called without the interpreter's lock.
  void write_back() const;

 private:
  bool open_buffer(PyObject* object, size_t index);
  bool open_exchanged(PyObject* object);
  bool open_torch(PyObject* object, size_t index);
  bool open_dlpack(PyObject* object, size_t index);
  void take(const DlTensor& tensor, ScalarType dtype);
  bool is_in_order(const TensorInfo& info) const;
  void order(const TensorInfo& info);
  bool copy(const TensorInfo& info);
  bool refuse_layout(PyObject* object, size_t index) const;
  std::string place(size_t index) const;
  std::string text() const;

  const char* kind_;

  ScalarType dtype_ = ScalarType::kByte;
  void* data_ = nullptr;
  bool is_read_only_ = false, may_be_written_ = false;
  void* original_ = nullptr;                              // Where the elements of a copy come from.
  std::vector<int64_t> sizes_, strides_;                  // In elements.
  std::vector<int64_t> ordered_sizes_, ordered_strides_;  // Of a copy, in its order.
  Py_buffer buffer_ = {};
  Ref owner_;
  Elements copy_;
  int32_t declared_sizes_[kMaxRank] = {};
  uint8_t dim_order_[kMaxRank] = {};
  int32_t declared_strides_[kMaxRank] = {};
  Tensor tensor_;
};

// Whether the object is None, a bool, a str, or a number of any library, which are inputs as they
// are. `text` keeps the bytes of a str. False with an exception set if the number cannot be read.
bool read_plain(PyObject* object, EValue* to, std::string* text);

// Copies elements from any strides, in elements, to row-major order of `sizes`; and back.
void gather(uint8_t* to, const uint8_t* from, const std::vector<int64_t>& sizes,
            const std::vector<int64_t>& strides, size_t element);
void scatter(uint8_t* to, const uint8_t* from, const std::vector<int64_t>& sizes,
             const std::vector<int64_t>& strides, size_t element);

}  // namespace taper::python
