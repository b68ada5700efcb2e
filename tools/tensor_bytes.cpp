// Copies elements between row-major bytes and tensors of any dim order.

#include "tools/tensor_bytes.h"

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "tools/error.h"

namespace taper::tools {
namespace {

template <typename T>
T load(std::string_view bytes, size_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}

float half_to_float(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int mantissa = bits & 1023;
  const float sign = bits >> 15 ? -1.0f : 1.0f;
  if (exponent == 31) return mantissa ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), -24);
  return sign * std::ldexp(static_cast<float>(1024 + mantissa), exponent - 25);
}

// Visits every element with its row-major index and its index in the tensor's memory.
template <typename Visit>
void each_element(const Tensor& tensor, Visit visit) {
  const auto rank = static_cast<size_t>(tensor.dim());
  std::vector<int32_t> index(rank, 0);
  const auto count = static_cast<size_t>(tensor.numel());
  size_t place = 0;
  for (size_t i = 0; i < count; ++i) {
    visit(i, place);
    for (size_t d = rank; d-- > 0;) {
      const auto stride = static_cast<size_t>(tensor.strides()[d]);
      place += stride;
      if (++index[d] < tensor.sizes()[d]) break;
      place -= stride * static_cast<size_t>(index[d]);
      index[d] = 0;
    }
  }
}

uint64_t bytes_needed(ScalarType type, Span<const int32_t> sizes, uint64_t max_bytes) {
  uint64_t bytes = element_size(type);
  for (const int32_t size : sizes) {
    if (size == 0) return 0;
  }
  for (const int32_t size : sizes) {
    if (bytes > max_bytes / static_cast<uint64_t>(size)) {
      throw InputError("an input of " + type_text(type, sizes) + " does not fit in memory");
    }
    bytes *= static_cast<uint64_t>(size);
  }
  return bytes;
}

}  // namespace

HeldTensor::HeldTensor(ScalarType type, Span<const int32_t> sizes, Span<const uint8_t> dim_order,
                       uint64_t max_bytes)
    : sizes_(sizes.begin(), sizes.end()),
      strides_(sizes.size()),
      dim_order_(dim_order.begin(), dim_order.end()),
      memory_(bytes_needed(type, sizes, max_bytes) / 8 + 1) {
  tensor_ = Tensor(type, sizes_.size(), sizes_.data(), dim_order_.data(), strides_.data(),
                   memory_.data());
}

void HeldTensor::set_row_major(std::string_view bytes) {
  const size_t element = element_size(tensor_.scalar_type());
  auto* data = static_cast<char*>(tensor_.mutable_data());
  if (tensor_.is_contiguous()) {
    std::memcpy(data, bytes.data(), bytes.size());
  } else {
    each_element(tensor_, [&](size_t from, size_t to) {
      std::memcpy(data + to * element, bytes.data() + from * element, element);
    });
  }
  if (tensor_.scalar_type() != ScalarType::kBool) return;
  for (size_t i = 0; i < bytes.size(); ++i) data[i] = data[i] != 0;  // A bool is 0 or 1.
}

void HeldTensor::set_ones() {
  const ScalarType part = part_type(tensor_.scalar_type());
  std::string one(element_size(part), '\0');
  switch (part) {
    case ScalarType::kHalf:
      one = std::string("\x00\x3c", 2);
      break;
    case ScalarType::kBFloat16:
      one = std::string("\x80\x3f", 2);
      break;
    case ScalarType::kFloat:
      one = std::string("\x00\x00\x80\x3f", 4);
      break;
    case ScalarType::kDouble:
      one = std::string("\x00\x00\x00\x00\x00\x00\xf0\x3f", 8);
      break;
    default:
      one[0] = 1;
  }
  auto* data = static_cast<char*>(tensor_.mutable_data());
  for (size_t at = 0; at < tensor_.nbytes(); at += one.size()) {
    std::memcpy(data + at, one.data(), one.size());
  }
}

std::string row_major_bytes(const Tensor& tensor) {
  std::string bytes(tensor.nbytes(), '\0');
  const auto* data = static_cast<const char*>(tensor.const_data());
  if (bytes.empty()) return bytes;
  if (tensor.is_contiguous()) {
    std::memcpy(bytes.data(), data, bytes.size());
    return bytes;
  }
  const size_t element = element_size(tensor.scalar_type());
  each_element(tensor, [&](size_t to, size_t from) {
    std::memcpy(bytes.data() + to * element, data + from * element, element);
  });
  return bytes;
}

std::vector<int64_t> shape_of(Span<const int32_t> sizes) {
  return std::vector<int64_t>(sizes.begin(), sizes.end());
}

std::string type_text(ScalarType type, Span<const int32_t> sizes) {
  return std::string(to_string(type)) + " " + shape_text(shape_of(sizes));
}

void check_array(const NpyArray& array, const TensorInfo& info, const std::string& where) {
  const Span<const int32_t> sizes = info.sizes();
  const bool dynamic = info.shape_dynamism() != ShapeDynamism::kStatic;
  const std::string expected = where + ": expected " + type_text(info.scalar_type(), sizes) +
                               (dynamic ? " at most" : "") + ", given " + to_string(array.dtype) +
                               " " + shape_text(array.shape);
  if (array.dtype != info.scalar_type() || array.shape.size() != sizes.size()) {
    throw InputError(expected);
  }
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (array.shape[d] == sizes[d] || (dynamic && array.shape[d] < sizes[d])) continue;
    const std::string size = std::to_string(sizes[d]), which = std::to_string(d);
    if (!dynamic) throw InputError(expected + ": dimension " + which + " must be " + size);
    throw InputError(expected + ": the program was planned for at most " + size + " in dimension " +
                     which +
                     "; export with torch.export.Dim(\"...\", max=N) or use "
                     "'taper export --bound'");
  }
}

double element_at(ScalarType type, std::string_view bytes, size_t i) {
  switch (type) {
    case ScalarType::kByte:
    case ScalarType::kBool:
      return load<uint8_t>(bytes, i);
    case ScalarType::kChar:
      return load<int8_t>(bytes, i);
    case ScalarType::kShort:
      return load<int16_t>(bytes, i);
    case ScalarType::kInt:
      return load<int32_t>(bytes, i);
    case ScalarType::kLong:
      return static_cast<double>(load<int64_t>(bytes, i));
    case ScalarType::kUInt16:
      return load<uint16_t>(bytes, i);
    case ScalarType::kUInt32:
      return load<uint32_t>(bytes, i);
    case ScalarType::kUInt64:
      return static_cast<double>(load<uint64_t>(bytes, i));
    case ScalarType::kHalf:
      return half_to_float(load<uint16_t>(bytes, i));
    case ScalarType::kBFloat16:
      return std::bit_cast<float>(static_cast<uint32_t>(load<uint16_t>(bytes, i)) << 16);
    case ScalarType::kFloat:
      return load<float>(bytes, i);
    case ScalarType::kDouble:
      return load<double>(bytes, i);
    case ScalarType::kComplexHalf:
    case ScalarType::kComplexFloat:
    case ScalarType::kComplexDouble:
      return element_at(part_type(type), bytes, 2 * i);
  }
  return 0;
}

std::string element_text(ScalarType type, std::string_view bytes, size_t i) {
  if (type == ScalarType::kBool) return load<uint8_t>(bytes, i) ? "True" : "False";
  if (type == ScalarType::kLong) return std::to_string(load<int64_t>(bytes, i));
  if (type == ScalarType::kUInt64) return std::to_string(load<uint64_t>(bytes, i));
  if (is_complex(type)) {
    const std::string imaginary = element_text(part_type(type), bytes, 2 * i + 1);
    return element_text(part_type(type), bytes, 2 * i) + (imaginary[0] == '-' ? "" : "+") +
           imaginary + "j";
  }
  char text[40];
  std::snprintf(text, sizeof(text), is_floating(type) ? "%.6g" : "%.0f",
                element_at(type, bytes, i));
  return text;
}

}  // namespace taper::tools
