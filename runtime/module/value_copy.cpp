// Conversion between the values of taper/taper.h and those of the runtime; see value_copy.h.

#include "runtime/module/value_copy.h"

#include <cstring>
#include <new>

namespace taper {
namespace {

std::string type_text(int32_t dtype, const int32_t* sizes, size_t rank) {
  std::string text = is_dtype(dtype) ? to_string(static_cast<ScalarType>(dtype))
                                     : "dtype " + std::to_string(dtype);
  text += " (";
  for (size_t d = 0; d < rank; ++d) text += (d == 0 ? "" : ", ") + std::to_string(sizes[d]);
  return text + ")";
}

bool fits(const TensorInfo& info, const taper_value& value) {
  const bool dynamic = info.shape_dynamism() != ShapeDynamism::kStatic;
  for (size_t d = 0; d < info.sizes().size(); ++d) {
    const int32_t declared = info.sizes()[d], given = value.sizes[d];
    if (given < 0 || given > declared || (!dynamic && given != declared)) return false;
  }
  return true;
}

// Says what is wrong with an input, if anything is.
Error check_input(const TensorInfo& info, const taper_value& from, std::string* problem) {
  const size_t rank = info.sizes().size();
  const int32_t dtype = static_cast<int32_t>(info.scalar_type());
  std::string wanted = type_text(dtype, info.sizes().data(), rank);
  if (info.shape_dynamism() != ShapeDynamism::kStatic) wanted += " at most";
  if (from.kind != TAPER_TENSOR) {
    *problem = "expected " + wanted + ", a value of kind TAPER_TENSOR; given kind " +
               std::to_string(from.kind);
    return Error::kInvalidType;
  }
  if (from.rank < 0 || from.rank > TAPER_MAX_RANK) {
    *problem = "expected " + wanted + ", given rank " + std::to_string(from.rank);
    return Error::kInvalidArgument;
  }
  const bool same_rank = static_cast<size_t>(from.rank) == rank;
  if (from.dtype != dtype || !same_rank || !fits(info, from)) {
    *problem = "expected " + wanted + ", given " +
               type_text(from.dtype, from.sizes, static_cast<size_t>(from.rank));
    return from.dtype != dtype ? Error::kInvalidType : Error::kInvalidArgument;
  }
  uint64_t bytes =
      element_size(info.scalar_type());  // Cannot overflow: no size exceeds the declared one.
  for (size_t d = 0; d < rank; ++d) bytes *= static_cast<uint64_t>(from.sizes[d]);
  if (from.bytes != bytes || (from.data == nullptr && bytes != 0)) {
    *problem = wanted + " at these sizes takes " + std::to_string(bytes) + " bytes, given " +
               (from.data == nullptr ? "a null pointer" : std::to_string(from.bytes));
    return Error::kInvalidArgument;
  }
  return Error::kOk;
}

}  // namespace

bool is_dtype(int32_t number) {
  return number >= 0 && number <= INT8_MAX && is_valid(static_cast<ScalarType>(number));
}

void describe_tensor(const TensorInfo& from, taper_value_info* to) {
  to->dtype = static_cast<int32_t>(from.scalar_type());
  to->rank = static_cast<int32_t>(from.sizes().size());
  to->dynamic = from.shape_dynamism() != ShapeDynamism::kStatic ? 1 : 0;
  for (size_t d = 0; d < from.sizes().size(); ++d) {
    to->sizes[d] = from.sizes()[d];
    to->dim_order[d] = from.dim_order()[d];
  }
  to->bytes = from.nbytes();
}

Error hold_input(const TensorInfo& info, const taper_value& from, Holding how, HeldInput* to,
                 std::string* problem) {
  const Error fault = check_input(info, from, problem);
  if (fault != Error::kOk) return fault;
  std::unique_ptr<uint64_t[]> words;
  if (how == Holding::kCopy) {
    words.reset(new (std::nothrow) uint64_t[from.bytes / 8 + 2]);
    if (words == nullptr) {
      *problem = "there is no memory for a copy of " + std::to_string(from.bytes) + " bytes";
      return Error::kMemoryAllocationFailed;
    }
    if (from.bytes != 0) std::memcpy(words.get(), from.data, from.bytes);
  }
  void* const elements = how == Holding::kCopy ? words.get() : const_cast<void*>(from.data);
  auto bound = std::make_unique<BoundTensor>(info, from.sizes, elements);
  bound->words = std::move(words);
  to->bound = std::move(bound);
  to->set = true;
  return Error::kOk;
}

void show_value(const EValue& from, taper_value* to) {
  to->kind = static_cast<int32_t>(from.tag());
  if (from.is_tensor()) {
    const Tensor& tensor = from.to_tensor();
    to->dtype = static_cast<int32_t>(tensor.scalar_type());
    to->rank = static_cast<int32_t>(tensor.dim());
    for (size_t d = 0; d < tensor.sizes().size(); ++d) to->sizes[d] = tensor.sizes()[d];
    to->data = tensor.const_data();
    to->bytes = tensor.nbytes();
  } else if (from.tag() == Tag::kString) {
    to->data = from.to_string_view().data();
    to->bytes = from.to_string_view().size();
  } else if (from.is_double()) {
    to->number = from.to_double();
  } else if (from.is_int()) {
    to->integer = from.to_int();
  } else if (from.is_bool()) {
    to->integer = from.to_bool() ? 1 : 0;
  }
}

}  // namespace taper
