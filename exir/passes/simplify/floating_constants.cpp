// Reads and writes elements one by one; see floating_constants.h.

#include "exir/passes/simplify/floating_constants.h"

#include <cmath>
#include <cstring>

#include "exir/ir/scales.h"
#include "kernels_portable/engine/half.h"

namespace taper::exir {

double read_element(const uint8_t* at, ScalarType type) {
  if (type == ScalarType::kFloat) {
    float value;
    std::memcpy(&value, at, sizeof(value));
    return static_cast<double>(value);
  }
  if (type == ScalarType::kDouble) {
    double value;
    std::memcpy(&value, at, sizeof(value));
    return value;
  }
  uint16_t bits;
  std::memcpy(&bits, at, sizeof(bits));
  return static_cast<double>(type == ScalarType::kHalf
                                 ? portable::half_to_float(portable::Half{bits})
                                 : portable::bfloat16_to_float(portable::BFloat16{bits}));
}

void write_element(uint8_t* at, ScalarType type, double value) {
  if (type == ScalarType::kDouble) {
    std::memcpy(at, &value, sizeof(value));
    return;
  }
  const auto single = static_cast<float>(value);
  if (type == ScalarType::kFloat) {
    std::memcpy(at, &single, sizeof(single));
    return;
  }
  const uint16_t bits = type == ScalarType::kHalf ? portable::float_to_half(single).bits
                                                  : portable::float_to_bfloat16(single).bits;
  std::memcpy(at, &bits, sizeof(bits));
}

std::optional<Doubles> read_doubles(const Argument& arg) {
  if (!arg.is_value()) return std::nullopt;
  const Value& value = *arg.value();
  if (value.role != ValueRole::kConstant || !is_floating(value.type.dtype)) return std::nullopt;
  if (!value.type.is_contiguous()) return std::nullopt;
  const size_t width = element_size(value.type.dtype);
  const TensorData data = elements_of(value);
  Doubles out(data.bytes / width);
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = read_element(data.data + i * width, value.type.dtype);
  }
  return out;
}

std::vector<uint8_t> to_bytes(const Doubles& data, ScalarType type) {
  const size_t width = element_size(type);
  std::vector<uint8_t> bytes(data.size() * width);
  for (size_t i = 0; i < data.size(); ++i) write_element(&bytes[i * width], type, data[i]);
  return bytes;
}

Value* named_after(Value* made, const Value& like) {
  if (!like.fqn.empty()) made->fqn = like.fqn + "." + made->name;
  return made;
}

std::optional<FixedNorm> read_fixed_norm(const Node& norm) {
  const auto mean = read_doubles(norm.arg("running_mean"));
  if (!mean) return std::nullopt;
  const auto parameter = [&](const char* name, double otherwise) {
    const Argument& arg = norm.arg(name);
    return arg.is_none() ? Doubles(mean->size(), otherwise) : read_doubles(arg);
  };
  const auto variance = parameter("running_var", 1), gain = parameter("weight", 1),
             shift = parameter("bias", 0);
  for (const auto* each : {&variance, &gain, &shift}) {
    if (!*each || (*each)->size() != mean->size()) return std::nullopt;
  }
  FixedNorm made = {*mean, *gain, *shift};
  const double eps = norm.arg("eps").to_double();
  for (size_t c = 0; c < mean->size(); ++c) made.scale[c] /= std::sqrt((*variance)[c] + eps);
  return made;
}

}  // namespace taper::exir
