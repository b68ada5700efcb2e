// Converts and compares elements one at a time, as doubles or int64s; see case_values.h.

#include "test/support/case_values.h"

#include <cmath>
#include <cstring>
#include <sstream>

namespace taper::test {
namespace {

float half_to_float(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  float value = 0;
  if (exponent == 0) {
    value = std::ldexp(static_cast<float>(fraction), -24);
  } else if (exponent == 31) {
    value = fraction ? NAN : INFINITY;
  } else {
    value = std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
  }
  return bits & 0x8000 ? -value : value;
}

// `value` must be exactly representable as a half, as the cases' values are.
uint16_t half_from_float(float value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return sign | 0x7E00;
  if (std::isinf(value)) return sign | 0x7C00;
  if (value == 0) return sign;
  int exponent = 0;
  const float fraction = std::frexp(std::fabs(value), &exponent);  // In [0.5, 1).
  if (exponent < -13) return sign | static_cast<uint16_t>(std::ldexp(std::fabs(value), 24));
  const int mantissa = static_cast<int>(std::ldexp(fraction, 11)) - 1024;
  return static_cast<uint16_t>(sign | (exponent + 14) << 10 | mantissa);
}

template <typename T>
T load(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <typename T>
void store(void* to, T value) {
  std::memcpy(to, &value, sizeof(T));
}

double load_double(ScalarType type, const void* from) {
  switch (type) {
    case ScalarType::kFloat:
      return load<float>(from);
    case ScalarType::kDouble:
      return load<double>(from);
    case ScalarType::kHalf:
      return half_to_float(load<uint16_t>(from));
    default: {
      const uint32_t bits = static_cast<uint32_t>(load<uint16_t>(from)) << 16;
      return load<float>(&bits);
    }
  }
}

int64_t load_int(ScalarType type, const void* from) {
  switch (type) {
    case ScalarType::kByte:
    case ScalarType::kBool:
      return load<uint8_t>(from);
    case ScalarType::kChar:
      return load<int8_t>(from);
    case ScalarType::kShort:
      return load<int16_t>(from);
    case ScalarType::kInt:
      return load<int32_t>(from);
    case ScalarType::kUInt16:
      return load<uint16_t>(from);
    case ScalarType::kUInt32:
      return load<uint32_t>(from);
    default:
      return load<int64_t>(from);
  }
}

void store_text(ScalarType type, const std::string& text, void* to) {
  switch (type) {
    case ScalarType::kFloat:
      return store(to, std::strtof(text.c_str(), nullptr));
    case ScalarType::kDouble:
      return store(to, parse_double(text));
    case ScalarType::kHalf:
      return store(to, half_from_float(std::strtof(text.c_str(), nullptr)));
    case ScalarType::kBFloat16: {
      const float value = std::strtof(text.c_str(), nullptr);
      return store(to, static_cast<uint16_t>(load<uint32_t>(&value) >> 16));
    }
    default:
      break;
  }
  const int64_t value = parse_int(text);
  std::memcpy(to, &value, element_size(type));  // Little-endian, like the wire format.
}

int64_t parts_per_element(ScalarType type) { return is_complex(type) ? 2 : 1; }

// Calls visit(i, element) for every element in row-major order; for each part of a complex one.
template <typename Visit>
void for_each_element(const Tensor& tensor, Visit visit) {
  std::vector<int64_t> index(static_cast<size_t>(tensor.dim()), 0);
  char* data = static_cast<char*>(tensor.mutable_data());
  const size_t size = element_size(tensor.scalar_type());
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    int64_t offset = 0;
    for (size_t d = 0; d < index.size(); ++d) offset += index[d] * tensor.strides()[d];
    char* at = data + offset * static_cast<int64_t>(size);
    const int64_t parts = parts_per_element(tensor.scalar_type());
    for (int64_t part = 0; part < parts; ++part) {
      const size_t step = element_size(part_type(tensor.scalar_type()));
      visit(static_cast<size_t>(i * parts + part), at + static_cast<size_t>(part) * step);
    }
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < tensor.size(static_cast<int64_t>(d))) break;
      index[d] = 0;
    }
  }
}

std::string shape_text(const std::vector<int32_t>& sizes) {
  std::string text = "[";
  for (const int32_t size : sizes) text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  return text + "]";
}

bool is_near(double want, double got, Tolerance allowed) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) == std::isnan(got);
  return want == got ||
         std::fabs(want - got) <= allowed.absolute + allowed.relative * std::fabs(want);
}

// Integers must be equal unless a tolerance is stated.
bool is_near(int64_t want, int64_t got, const std::optional<Tolerance>& stated) {
  return want == got || (stated && std::fabs(static_cast<double>(want) -
                                             static_cast<double>(got)) <= stated->absolute);
}

template <typename T>
std::string differs(T want, T got) {
  std::ostringstream text;
  text.precision(9);
  text << "want " << want << ", got " << got;
  return text.str();
}

}  // namespace

int64_t parse_int(const std::string& text) {
  if (text == "true" || text == "false") return text == "true";
  return text[0] == '-' ? std::strtoll(text.c_str(), nullptr, 10)
                        : static_cast<int64_t>(std::strtoull(text.c_str(), nullptr, 10));
}

double parse_double(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

size_t value_count(const CaseTensor& text) {
  size_t count = static_cast<size_t>(parts_per_element(text.type));
  for (const int32_t size : text.sizes) count *= static_cast<size_t>(size);
  return count;
}

void fill(const CaseTensor& text, const Tensor& tensor) {
  for_each_element(tensor, [&](size_t i, void* element) {
    if (i < text.values.size()) store_text(part_type(text.type), text.values[i], element);
  });
}

CaseTensor text_of(const Tensor& tensor) {
  CaseTensor text;
  text.type = tensor.scalar_type();
  text.sizes.assign(tensor.sizes().begin(), tensor.sizes().end());
  text.dim_order.assign(tensor.dim_order().begin(), tensor.dim_order().end());
  const ScalarType type = part_type(text.type);
  for_each_element(tensor, [&](size_t, void* element) {
    std::ostringstream value;
    value.precision(17);
    if (is_floating(type)) {
      value << load_double(type, element);
    } else {
      value << load_int(type, element);
    }
    text.values.push_back(value.str());
  });
  return text;
}

Tolerance tolerance_of(ScalarType type) {
  switch (type) {
    case ScalarType::kDouble:
      return {1e-10, 1e-12};
    case ScalarType::kHalf:
      return {2e-3, 1e-3};
    case ScalarType::kBFloat16:
      return {2e-2, 1e-2};
    default:
      return {1e-5, 1e-6};
  }
}

std::optional<Tolerance> own_tolerance(const OpCase& c) {
  if (c.relative < 0) return std::nullopt;
  return Tolerance{c.relative, c.absolute};
}

std::string mismatch(const CaseTensor& want, const Tensor& got,
                     const std::optional<Tolerance>& tolerance) {
  const std::vector<int32_t> sizes(got.sizes().begin(), got.sizes().end());
  if (sizes != want.sizes) {
    return "want the sizes " + shape_text(want.sizes) + ", got " + shape_text(sizes);
  }
  if (got.scalar_type() != want.type) {
    return std::string("want ") + to_string(want.type) + ", got " + to_string(got.scalar_type());
  }
  if (want.values.empty() && got.numel() > 0) return {};
  const ScalarType type = part_type(want.type);
  const Tolerance allowed = tolerance.value_or(tolerance_of(type));
  std::string found;
  for_each_element(got, [&](size_t i, void* element) {
    if (!found.empty()) return;
    const std::string& text = want.values[i];
    if (is_floating(type)) {
      const double value = load_double(type, element);
      if (!is_near(parse_double(text), value, allowed)) found = differs(parse_double(text), value);
    } else if (!is_near(parse_int(text), load_int(type, element), tolerance)) {
      found = differs(parse_int(text), load_int(type, element));
    }
    if (!found.empty()) found = "element " + std::to_string(i) + ": " + found;
  });
  return found;
}

std::string mismatch(const CaseValue& want, const EValue& got,
                     const std::optional<Tolerance>& tolerance) {
  if (want.tag != got.tag()) {
    return std::string("want a ") + to_string(want.tag) + ", got a " + to_string(got.tag());
  }
  switch (want.tag) {
    case Tag::kTensor:
      return mismatch(want.tensors[0], got.to_tensor(), tolerance);
    case Tag::kInt:
      if (got.to_int() == parse_int(want.words[0])) return {};
      return differs(parse_int(want.words[0]), got.to_int());
    case Tag::kBool:
      if (got.to_bool() == (want.words[0] == "true")) return {};
      return differs(want.words[0] == "true", got.to_bool());
    case Tag::kDouble:
      if (is_near(parse_double(want.words[0]), got.to_double(), {0, 0})) return {};
      return differs(parse_double(want.words[0]), got.to_double());
    default:
      break;
  }
  for (size_t i = 0; i < want.tensors.size(); ++i) {
    const EValue& item = *got.list_items()[i];
    const std::string found = mismatch(want.tensors[i], item.to_tensor(), tolerance);
    if (!found.empty()) return "tensor " + std::to_string(i) + ", " + found;
  }
  return {};
}

}  // namespace taper::test
