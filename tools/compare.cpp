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

}  // namespace

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
