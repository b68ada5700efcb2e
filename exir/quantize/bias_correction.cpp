// Sums the errors of weights, each times the mean of what it is multiplied with.

#include "exir/quantize/bias_correction.h"

namespace taper::exir {

std::vector<float> corrected_bias(const QuantLayer& layer, const std::vector<float>& weight,
                                  const std::vector<float>& rounded, const std::vector<float>& bias,
                                  const ChannelStatistics& input) {
  const TensorSizes& sizes = layer.weight->type.sizes;
  if (layer.axis != 0 || input.sum.empty() || layer.kind == LayerKind::kEmbedding) return {};
  if (layer.node->schema->find("bias") < 0) return {};
  const auto outputs = static_cast<size_t>(sizes[0].as_int());
  const auto inputs = static_cast<size_t>(sizes[1].as_int());
  if (outputs == 0 || inputs == 0) return {};
  const size_t inner = weight.size() / outputs / inputs;
  size_t groups = 1;
  if (layer.kind == LayerKind::kConvolution) {
    const Argument& given = layer.node->arg("groups");
    if (!given.is_int() || given.to_int() < 1) return {};
    groups = static_cast<size_t>(given.to_int());
  }
  const size_t per_group = outputs / groups;
  if (per_group == 0 || input.sum.size() != inputs * groups) return {};
  std::vector<float> out(outputs, 0);
  for (size_t o = 0; o < outputs; ++o) {
    double shift = 0;
    for (size_t i = 0; i < inputs; ++i) {
      double error = 0;
      for (size_t k = 0; k < inner; ++k) {
        const size_t at = (o * inputs + i) * inner + k;
        error += static_cast<double>(rounded[at]) - static_cast<double>(weight[at]);
      }
      shift += error * input.mean(o / per_group * inputs + i);
    }
    const double before = bias.empty() ? 0 : static_cast<double>(bias[o]);
    out[o] = static_cast<float>(before - shift);
  }
  return out;
}

}  // namespace taper::exir
