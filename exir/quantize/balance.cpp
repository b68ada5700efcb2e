// Computes the factors and multiplies constants by them.

#include "exir/quantize/balance.h"

#include <algorithm>
#include <cmath>

namespace taper::exir {
namespace {

int64_t size_of(const Value& value, size_t dim) { return value.type.sizes[dim].as_int(); }

// The channel of the tensor that each element of a reader's weight is multiplied with.
template <typename Visit>
void for_each_input_channel(const QuantLayer& layer, size_t count, const Visit& visit) {
  const Value& weight = *layer.weight;
  const auto first = static_cast<size_t>(size_of(weight, 0));
  const auto second = static_cast<size_t>(size_of(weight, 1));
  if (first == 0 || second == 0 || count < first * second) return;
  const size_t inner = count / (first * second);
  if (layer.kind == LayerKind::kLinear || layer.axis == 1) {
    const bool by_row = layer.axis == 1;  // [inputs, outputs]
    for (size_t i = 0; i < count; ++i) {
      visit(i, by_row ? i / inner / second : i / inner % second);
    }
    return;
  }
  const Argument& given = layer.node->arg("groups");
  const auto groups = static_cast<size_t>(given.to_int());
  const size_t outputs = groups == 0 ? 0 : first / groups;  // Of each group.
  if (outputs == 0) return;
  for (size_t i = 0; i < count; ++i) {
    const size_t row = i / inner / second;
    visit(i, row / outputs * second + i / inner % second);
  }
}

}  // namespace

std::vector<double> balance_factors(const std::vector<float>& values,
                                    const std::vector<float>& weights) {
  constexpr double kMost = 64;  // Keeps channels that hardly occur from becoming all there is.
  std::vector<double> factors(values.size(), 1);
  for (size_t c = 0; c < values.size() && c < weights.size(); ++c) {
    if (!(values[c] > 0) || !(weights[c] > 0)) continue;
    const double ratio = static_cast<double>(values[c]) / static_cast<double>(weights[c]);
    factors[c] = std::sqrt(ratio);
  }
  double logs = 0;
  for (const double factor : factors) logs += std::log(factor);
  const double middle = std::exp(logs / static_cast<double>(std::max<size_t>(factors.size(), 1)));
  for (double& factor : factors) factor = std::clamp(factor / middle, 1 / kMost, kMost);
  return factors;
}

NewConstants balanced(const std::vector<BalanceSite>& sites, const Calibration& calibration) {
  NewConstants out;
  const auto elements = [&](const Value& constant) -> std::vector<float>& {
    std::vector<float>& held = out[constant.name];
    if (held.empty()) held = row_major_floats(constant);
    return held;
  };
  for (const BalanceSite& site : sites) {
    const auto seen = calibration.channels.find(site.tensor);
    if (seen == calibration.channels.end() || seen->second.largest.empty()) continue;
    const std::vector<float>& values = seen->second.largest;
    std::vector<float> weights(values.size(), 0);
    for (const QuantLayer* reader : site.readers) {
      const std::vector<float>& held = elements(*reader->weight);
      for_each_input_channel(*reader, held.size(), [&](size_t i, size_t channel) {
        weights[channel] = std::max(weights[channel], std::fabs(held[i]));
      });
    }
    const std::vector<double> factors = balance_factors(values, weights);
    for (const QuantLayer* reader : site.readers) {
      std::vector<float>& held = elements(*reader->weight);
      for_each_input_channel(*reader, held.size(), [&](size_t i, size_t channel) {
        held[i] = static_cast<float>(static_cast<double>(held[i]) * factors[channel]);
      });
    }
    for (const Value* maker : site.made_by) {
      std::vector<float>& held = elements(*maker);
      const size_t inner = held.size() / factors.size();
      for (size_t i = 0; i < held.size(); ++i) {
        held[i] = static_cast<float>(static_cast<double>(held[i]) / factors[i / inner]);
      }
    }
  }
  return out;
}

}  // namespace taper::exir
