// Backends reorder weights and may shift them to another sign, so that only the numbers of equal
// bytes tell whether data are those of a weight.

#include "exir/delegate/unpacked_weights.h"

#include <algorithm>
#include <array>
#include <set>

namespace taper::exir {
namespace {

constexpr size_t kSmall = size_t{1} << 10;
constexpr size_t kSmallFloats = size_t{1} << 12;  // With codes, which have a table.

// How often each byte occurs, the rarest first. The sum is the number of bytes.
using Counts = std::array<size_t, 256>;

Counts sorted_counts(const TensorData& data) {
  Counts counts{};
  for (size_t i = 0; i < data.bytes; ++i) ++counts[data.data[i]];
  std::sort(counts.begin(), counts.end());
  return counts;
}

}  // namespace

std::vector<FewBits> weights_of_few_bits(const Graph& graph) {
  std::vector<FewBits> found;
  for (const Value* constant : graph.constants) {
    const Scales* scales = constant->scales.get();
    if (scales == nullptr || scales->bits == 8 || scales->integers.bytes <= kSmall) continue;
    found.push_back({constant->fqn.empty() ? constant->name : constant->fqn, scales->integers});
  }
  return found;
}

std::vector<FewBits> weights_with_codes(const Graph& graph) {
  std::vector<FewBits> found;
  for (const Value* constant : graph.constants) {
    if (constant->codes == nullptr || constant->data.bytes <= kSmallFloats) continue;
    found.push_back({constant->fqn.empty() ? constant->name : constant->fqn, constant->data});
  }
  return found;
}

std::vector<std::string> stored_wide(const std::vector<FewBits>& weights, const Graph& compiled) {
  std::vector<const TensorData*> stored;
  for (const Value* constant : compiled.constants) stored.push_back(&constant->data);
  for (const auto& delegate : compiled.delegates) {
    for (const Delegate::Data& data : delegate->data) stored.push_back(&data.bytes);
  }
  std::set<uint64_t> sizes;
  for (const FewBits& weight : weights) sizes.insert(weight.elements.bytes);
  std::set<Counts> found;
  for (const TensorData* data : stored) {
    if (data->data != nullptr && sizes.count(data->bytes) != 0) found.insert(sorted_counts(*data));
  }
  std::vector<std::string> names;
  for (const FewBits& weight : weights) {
    if (found.count(sorted_counts(weight.elements)) != 0) names.push_back(weight.name);
  }
  return names;
}

}  // namespace taper::exir
