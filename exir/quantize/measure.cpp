// Sums squares over all samples, and looks for the largest element of each row.

#include "exir/quantize/measure.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace taper::exir {
namespace {

std::span<const float> floats_of(const SampleTensor& tensor) {
  return {reinterpret_cast<const float*>(tensor.bytes.data()), tensor.bytes.size() / sizeof(float)};
}

size_t largest_at(std::span<const float> row) {
  return static_cast<size_t>(std::max_element(row.begin(), row.end()) - row.begin());
}

struct Counts {
  size_t rows = 0, agreeing = 0, right = 0, originally_right = 0;
};

void count_rows(const SampleTensor& original, const SampleTensor& changed,
                const std::vector<int64_t>& labels, Counts& counts) {
  if (original.sizes.empty() || original.sizes.back() < 1) return;
  const auto width = static_cast<size_t>(original.sizes.back());
  const std::span<const float> a = floats_of(original), b = floats_of(changed);
  for (size_t at = 0; at + width <= a.size() && at + width <= b.size(); at += width) {
    const size_t first = largest_at(a.subspan(at, width)), now = largest_at(b.subspan(at, width));
    counts.agreeing += first == now;
    if (counts.rows < labels.size()) {
      const auto label = static_cast<size_t>(labels[counts.rows]);
      counts.right += now == label;
      counts.originally_right += first == label;
    }
    ++counts.rows;
  }
}

}  // namespace

double Difference::decibels() const {
  double lowest = std::numeric_limits<double>::infinity();
  for (const OutputDifference& output : outputs) lowest = std::min(lowest, output.decibels);
  return lowest;
}

size_t rows_of(const Outputs& outputs) {
  size_t rows = 0;
  for (const auto& sample : outputs) {
    for (const SampleTensor& output : sample) {
      if (output.dtype != ScalarType::kFloat) continue;
      const int64_t width = output.sizes.empty() ? 0 : output.sizes.back();
      if (width > 0) rows += output.bytes.size() / sizeof(float) / static_cast<size_t>(width);
      break;
    }
  }
  return rows;
}

Difference difference(const Outputs& original, const Outputs& changed,
                      const std::vector<int64_t>& labels) {
  Difference out;
  Counts counts;
  const size_t places = original.empty() ? 0 : original[0].size();
  for (size_t place = 0; place < places; ++place) {
    if (original[0][place].dtype != ScalarType::kFloat) continue;
    double signal = 0, noise = 0;
    OutputDifference each;
    for (size_t s = 0; s < changed.size(); ++s) {
      const std::span<const float> a = floats_of(original[s][place]);
      const std::span<const float> b = floats_of(changed[s][place]);
      for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
        const double value = static_cast<double>(a[i]);
        const double error = static_cast<double>(b[i]) - value;
        signal += value * value;
        noise += error * error;
        each.largest = std::max(each.largest, std::fabs(error));
        each.scale = std::max(each.scale, std::fabs(value));
      }
      if (out.outputs.empty()) {
        count_rows(original[s][place], changed[s][place], labels, counts);
      }
    }
    each.decibels =
        noise == 0 ? std::numeric_limits<double>::infinity() : 10 * std::log10(signal / noise);
    out.outputs.push_back(each);
  }
  if (counts.rows == 0) return out;
  const auto part = [&](size_t n) { return static_cast<double>(n) / counts.rows; };
  out.agreement = part(counts.agreeing);
  out.accuracy = part(counts.right);
  out.original_accuracy = part(counts.originally_right);
  return out;
}

}  // namespace taper::exir
