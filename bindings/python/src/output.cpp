// Elements that lie in another order than row-major are brought into it.

#include "bindings/python/src/output.h"

#include <cstring>
#include <string>
#include <utility>

#include "bindings/python/src/input.h"

namespace taper::python {

Status take_output(const EValue& value, OutputHeld* to) {
  to->value = value;
  if (!value.is_tensor()) return {};
  const Tensor& tensor = value.to_tensor();
  to->dtype = tensor.scalar_type();
  to->sizes.assign(tensor.sizes().begin(), tensor.sizes().end());
  to->bytes = tensor.nbytes();
  if (to->elements != nullptr && tensor.const_data() == to->elements.get()) return {};
  to->elements = allocate_elements(to->bytes);
  TAPER_REQUIRE(to->elements != nullptr, Error::kMemoryAllocationFailed,
                "there is no memory for an output");
  const auto* const from = static_cast<const uint8_t*>(tensor.const_data());
  if (to->bytes == 0) return {};
  if (tensor.is_contiguous()) {
    std::memcpy(to->elements.get(), from, to->bytes);
  } else {
    const std::vector<int64_t> strides(tensor.strides().begin(), tensor.strides().end());
    gather(to->elements.get(), from, to->sizes, strides, element_size(to->dtype));
  }
  return {};
}

PyObject* output_object(OutputHeld* output, PyObject* make) {
  if (output->elements == nullptr) return plain_object(output->value);
  Ref made(make_tensor(output->dtype, output->sizes, std::move(output->elements), output->bytes));
  if (!made || make == Py_None) return made.release();
  return PyObject_CallFunctionObjArgs(make, made.get(), nullptr);
}

PyObject* plain_object(const EValue& value) {
  switch (value.tag()) {
    case Tag::kInt:
      return PyLong_FromLongLong(value.to_int());
    case Tag::kBool:
      return PyBool_FromLong(value.to_bool() ? 1 : 0);
    case Tag::kDouble:
      return PyFloat_FromDouble(value.to_double());
    case Tag::kString:
      return text_of(std::string(value.to_string_view()));
    default:
      Py_RETURN_NONE;
  }
}

}  // namespace taper::python
