// With H = X^T X + d I and U the upper Cholesky factor of its inverse, the error e of column i,
// divided by U[i, i], is subtracted from each later column j times U[i, j].

#include "exir/quantize/feedback.h"

#include <algorithm>
#include <cmath>

namespace taper::exir {
namespace {

// Replaces a symmetric positive matrix by its lower Cholesky factor. Returns false if it is none.
bool factor(std::vector<double>& m, size_t n) {
  for (size_t j = 0; j < n; ++j) {
    double* row_j = &m[j * n];
    for (size_t i = j; i < n; ++i) {
      double* row_i = &m[i * n];
      double sum = row_i[j];
      for (size_t k = 0; k < j; ++k) sum -= row_i[k] * row_j[k];
      if (i == j) {
        if (!(sum > 0)) return false;
        row_j[j] = std::sqrt(sum);
      } else {
        row_i[j] = sum / row_j[j];
      }
    }
  }
  return true;
}

// The inverse of L L^T for a lower factor L.
std::vector<double> inverse_of(const std::vector<double>& lower, size_t n) {
  std::vector<double> inverse(n * n, 0);  // Of L, transposed: row c holds column c.
  for (size_t c = 0; c < n; ++c) {
    double* column = &inverse[c * n];
    for (size_t i = c; i < n; ++i) {
      double sum = i == c ? 1 : 0;
      const double* row = &lower[i * n];
      for (size_t k = c; k < i; ++k) sum -= row[k] * column[k];
      column[i] = sum / row[i];
    }
  }
  std::vector<double> out(n * n, 0);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = i; j < n; ++j) {
      double sum = 0;
      for (size_t k = j; k < n; ++k) sum += inverse[i * n + k] * inverse[j * n + k];
      out[i * n + j] = out[j * n + i] = sum;
    }
  }
  return out;
}

// U with U^T U = H^-1; empty if H is not positive.
std::vector<double> upper_factor(std::vector<double> h, size_t n) {
  double trace = 0;
  for (size_t i = 0; i < n; ++i) trace += h[i * n + i];
  const double damping = trace > 0 ? 0.01 * trace / static_cast<double>(n) : 1;
  for (size_t i = 0; i < n; ++i) h[i * n + i] += damping;
  if (!factor(h, n)) return {};
  std::vector<double> inverse = inverse_of(h, n);
  if (!factor(inverse, n)) return {};
  std::vector<double> upper(n * n, 0);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = i; j < n; ++j) upper[i * n + j] = inverse[j * n + i];
  }
  return upper;
}

}  // namespace

QuantisedWeight round_with_feedback(const std::vector<float>& elements, size_t rows, size_t columns,
                                    const std::vector<double>& squares,
                                    const WeightFormat& format) {
  const std::vector<int64_t> sizes = {static_cast<int64_t>(rows), static_cast<int64_t>(columns)};
  QuantisedWeight out = round_weight(elements, sizes, 0, format);
  const std::vector<double> upper = upper_factor(squares, columns);
  if (upper.empty()) return out;
  const size_t group = format.group != 0 ? static_cast<size_t>(format.group) : columns;
  const auto low = static_cast<double>(out.low), high = static_cast<double>(out.high);
  std::vector<double> row(columns);
  for (size_t r = 0; r < rows; ++r) {
    std::copy_n(&elements[r * columns], columns, row.begin());
    for (size_t i = 0; i < columns; ++i) {
      const size_t at_scale = (r * columns + i) / group;
      if (format.group != 0 && i % group == 0) {  // What feedback has made of this group.
        const std::vector<float> now(row.begin() + static_cast<ptrdiff_t>(i),
                                     row.begin() + static_cast<ptrdiff_t>(i + group));
        out.scales[at_scale] =
            round_weight(now, {1, static_cast<int64_t>(group)}, 0, {format.bits, format.group})
                .scales[0];
      }
      const auto scale = static_cast<double>(out.scales[at_scale]);
      const double rounded = std::clamp(std::nearbyint(row[i] / scale), low, high);
      out.integers[r * columns + i] = static_cast<int8_t>(rounded);
      const double error = (row[i] - rounded * scale) / upper[i * columns + i];
      if (error == 0) continue;
      const double* factors = &upper[i * columns];
      for (size_t j = i + 1; j < columns; ++j) row[j] -= error * factors[j];
    }
  }
  return out;
}

}  // namespace taper::exir
