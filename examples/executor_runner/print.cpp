// The output of executor_runner; see print.h.

#include "print.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>

namespace taper::example {
namespace {

constexpr size_t kSummaryElements = 6;

float half_to_float(uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const float sign = bits >> 15 ? -1.0f : 1.0f;
  if (exponent == 31) return mantissa ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), -24);
  return sign * std::ldexp(static_cast<float>(1024 + mantissa), exponent - 25);
}

float bfloat16_to_float(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

void print_element(const Tensor& tensor, size_t i) {
  switch (tensor.scalar_type()) {
    case ScalarType::kBool:
      std::printf("%s", tensor.const_data_ptr<uint8_t>()[i] ? "True" : "False");
      break;
    case ScalarType::kByte:
      std::printf("%u", unsigned{tensor.const_data_ptr<uint8_t>()[i]});
      break;
    case ScalarType::kChar:
      std::printf("%d", int{tensor.const_data_ptr<int8_t>()[i]});
      break;
    case ScalarType::kShort:
      std::printf("%d", int{tensor.const_data_ptr<int16_t>()[i]});
      break;
    case ScalarType::kUInt16:
      std::printf("%u", unsigned{tensor.const_data_ptr<uint16_t>()[i]});
      break;
    case ScalarType::kInt:
      std::printf("%d", tensor.const_data_ptr<int32_t>()[i]);
      break;
    case ScalarType::kUInt32:
      std::printf("%u", tensor.const_data_ptr<uint32_t>()[i]);
      break;
    case ScalarType::kLong:
      std::printf("%lld", static_cast<long long>(tensor.const_data_ptr<int64_t>()[i]));
      break;
    case ScalarType::kUInt64:
      std::printf("%llu", static_cast<unsigned long long>(tensor.const_data_ptr<uint64_t>()[i]));
      break;
    case ScalarType::kHalf:
      std::printf("%g", static_cast<double>(half_to_float(tensor.const_data_ptr<uint16_t>()[i])));
      break;
    case ScalarType::kBFloat16:
      std::printf("%g",
                  static_cast<double>(bfloat16_to_float(tensor.const_data_ptr<uint16_t>()[i])));
      break;
    case ScalarType::kFloat:
      std::printf("%.7g", static_cast<double>(tensor.const_data_ptr<float>()[i]));
      break;
    case ScalarType::kDouble:
      std::printf("%.17g", tensor.const_data_ptr<double>()[i]);
      break;
    case ScalarType::kComplexHalf: {
      const uint16_t* parts = tensor.const_data_ptr<uint16_t>() + 2 * i;
      std::printf("%g%+gj", static_cast<double>(half_to_float(parts[0])),
                  static_cast<double>(half_to_float(parts[1])));
      break;
    }
    case ScalarType::kComplexFloat: {
      const float* parts = tensor.const_data_ptr<float>() + 2 * i;
      std::printf("%.7g%+.7gj", static_cast<double>(parts[0]), static_cast<double>(parts[1]));
      break;
    }
    case ScalarType::kComplexDouble: {
      const double* parts = tensor.const_data_ptr<double>() + 2 * i;
      std::printf("%.17g%+.17gj", parts[0], parts[1]);
      break;
    }
  }
}

void print_tensor(const Tensor& tensor, PrintOutput how) {
  std::printf("tensor(sizes=[");
  for (int64_t d = 0; d < tensor.dim(); ++d)
    std::printf(d ? ", %d" : "%d", tensor.sizes()[static_cast<size_t>(d)]);
  std::printf("], %s, [", to_string(tensor.scalar_type()));
  const auto count = static_cast<size_t>(tensor.numel());
  const bool cut = how == PrintOutput::kSummary && count > kSummaryElements;
  for (size_t i = 0; i < (cut ? kSummaryElements : count); ++i) {
    if (i > 0) std::printf(", ");
    print_element(tensor, i);
  }
  std::printf(cut ? ", ...])\n" : "])\n");
}

void print_value(const EValue& value, PrintOutput how) {
  switch (value.tag()) {
    case Tag::kTensor:
      print_tensor(value.to_tensor(), how);
      break;
    case Tag::kNone:
      std::printf("None\n");
      break;
    case Tag::kInt:
      std::printf("%lld\n", static_cast<long long>(value.to_int()));
      break;
    case Tag::kBool:
      std::printf("%s\n", value.to_bool() ? "True" : "False");
      break;
    case Tag::kDouble:
      std::printf("%.17g\n", value.to_double());
      break;
    case Tag::kString:
      std::printf("'%.*s'\n", static_cast<int>(value.to_string_view().size()),
                  value.to_string_view().data());
      break;
    default:
      std::printf("%s\n", to_string(value.tag()));
      break;
  }
}

}  // namespace

void print_outputs(const Method& method, PrintOutput how) {
  if (how == PrintOutput::kNone) return;
  for (size_t i = 0; i < method.num_outputs(); ++i) {
    std::printf("Output %zu: ", i);
    print_value(method.get_output(i).value(), how);
  }
}

void print_memory(const MethodMeta& meta) {
  std::printf("method block: %zu bytes\n", meta.method_bytes());
  for (size_t i = 0; i < meta.num_memory_planned_buffers(); ++i) {
    std::printf("planned buffer %zu: %llu bytes\n", i + 1,
                static_cast<unsigned long long>(meta.memory_planned_buffer_size(i).value()));
  }
}

bool write_outputs(const Method& method, const std::string& prefix) {
  if (prefix.empty()) return true;
  size_t k = 0;
  for (size_t i = 0; i < method.num_outputs(); ++i) {
    const EValue value = method.get_output(i).value();
    if (!value.is_tensor()) continue;
    const Tensor& tensor = value.to_tensor();
    std::ofstream out(prefix + "-" + std::to_string(k++) + ".bin", std::ios::binary);
    out.write(static_cast<const char*>(tensor.const_data()),
              static_cast<std::streamsize>(tensor.nbytes()));
    if (!out.flush()) return false;
  }
  return true;
}

}  // namespace taper::example
