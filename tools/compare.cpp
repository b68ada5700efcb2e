// Element-wise comparison with a relative tolerance.

#include "tools/compare.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tools/tensor_bytes.h"

namespace taper::tools {
namespace {

// The absolute difference; infinite if one number is NaN or infinite and the other differs.
double distance(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b) ? 0 : INFINITY;
  if (std::isinf(a) || std::isinf(b)) return a == b ? 0 : INFINITY;
  return std::fabs(a - b);
}

// By their bits, since not all fit into a double.
bool are_equal_integers(const NpyArray& a, const NpyArray& b) {
  return a.dtype == b.dtype && !is_floating(part_type(a.dtype)) && a.data == b.data;
}

}  // namespace

ArrayDifference difference_of(const NpyArray& got, const NpyArray& expected) {
  const ScalarType to = part_type(got.dtype), from = part_type(expected.dtype);
  ArrayDifference result;
  double signal = 0, noise = 0;
  for (size_t i = 0; i < expected.data.size() / element_size(from); ++i) {
    const double want = element_at(from, expected.data, i);
    const double error = distance(element_at(to, got.data, i), want);
    result.largest = std::max(result.largest, error);
    noise += error * error;
    if (!std::isfinite(want)) continue;
    result.scale = std::max(result.scale, std::fabs(want));
    signal += want * want;
  }
  if (!is_floating(to) && result.largest == 0 && got.dtype == expected.dtype &&
      !are_equal_integers(got, expected)) {
    result.largest = noise = 1;
  }
  result.decibels = noise == 0 ? INFINITY : 10 * std::log10(signal / noise);
  return result;
}

Comparison compare(const NpyArray& got, const NpyArray& expected, double tolerance) {
  Comparison result;
  if (got.dtype != expected.dtype || got.shape != expected.shape) {
    result.largest_error = INFINITY;
    result.text = std::string("expected ") + to_string(expected.dtype) + " " +
                  shape_text(expected.shape) + ", given " + to_string(got.dtype) + " " +
                  shape_text(got.shape);
    return result;
  }
  const ScalarType part = part_type(got.dtype);
  const size_t count = got.data.size() / element_size(part);
  if (!is_floating(part)) {
    size_t different = 0;
    for (size_t i = 0; i < count; ++i) {
      const size_t size = element_size(part);
      different += got.data.compare(i * size, size, expected.data, i * size, size) != 0;
    }
    result.equal = different == 0;
    result.largest_error = different == 0 ? 0 : INFINITY;
    result.text = different == 0 ? "equal" : std::to_string(different) + " elements differ";
    return result;
  }
  double scale = 1;
  for (size_t i = 0; i < count; ++i) {
    const double want = element_at(part, expected.data, i);
    if (std::isfinite(want)) scale = std::max(scale, std::fabs(want));
    const double error = distance(element_at(part, got.data, i), want);
    result.largest_error = std::max(result.largest_error, error);
  }
  result.equal = result.largest_error <= tolerance * scale;
  char text[96];
  std::snprintf(text, sizeof(text), "largest error %.3g, allowed %.3g", result.largest_error,
                tolerance * scale);
  result.text = text;
  return result;
}

}  // namespace taper::tools
