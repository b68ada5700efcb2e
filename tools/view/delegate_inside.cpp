// Values keep their names, and the call of a delegate keeps its order of values.

#include "tools/view/delegate_inside.h"

namespace taper::tools {
namespace {

constexpr char kPartition[] = "partition", kCall[] = "delegate::call";

std::vector<size_t> values_read(const ViewCall& call) {
  std::vector<size_t> values;
  for (const ViewArgument& arg : call.args) {
    for (const auto& piece : arg.pieces) {
      if (const auto* value = std::get_if<size_t>(&piece)) values.push_back(*value);
    }
  }
  return values;
}

std::map<size_t, size_t> places_of(const std::vector<size_t>& values) {
  std::map<size_t, size_t> places;
  for (size_t i = 0; i < values.size(); ++i) places.emplace(values[i], i);
  return places;
}

}  // namespace

DelegateInside::DelegateInside(const exir::Graph& graph, const ViewDocument& document)
    : document_(&document) {
  for (size_t i = 1; i < document.steps.size(); ++i) {
    if (document.steps[i].title != kPartition) continue;
    for (const size_t number : document.steps[i - 1].calls) {
      const std::vector<size_t>& results = document.calls()[number].results;
      if (!results.empty()) calls_.emplace(document.values()[results[0]].name, number);
    }
    for (const size_t number : document.steps[i].calls) {
      const ViewCall& call = document.calls()[number];
      if (call.op != kCall) continue;
      const std::vector<size_t> read = values_read(call);
      insides_[call.name] = {{}, read.size(), places_of(read), places_of(call.results)};
    }
  }
  for (const auto& node : graph.nodes) {
    if (!node->is(kCall)) continue;
    const auto inside = insides_.find(node->name);
    if (inside == insides_.end()) continue;
    for (const auto& part : graph.delegates.at(static_cast<size_t>(node->arg(0).to_int()))->parts) {
      inside->second.values.push_back(part.value);
    }
  }
}

std::optional<size_t> DelegateInside::input_count(const std::string& delegate) const {
  const auto found = insides_.find(delegate);
  if (found == insides_.end()) return std::nullopt;
  return found->second.count;
}

void DelegateInside::connect(const ViewCall& delegate, size_t index, ViewCall& part) const {
  const auto found = insides_.find(delegate.name);
  if (found == insides_.end() || index >= found->second.values.size()) return;
  const Inside& inside = found->second;
  const auto call = calls_.find(inside.values[index]);
  if (call == calls_.end()) return;
  const std::vector<size_t> inputs = values_read(delegate);
  const auto outside = [](size_t value, const std::map<size_t, size_t>& places,
                          const std::vector<size_t>& values) {
    const auto place = places.find(value);
    return place != places.end() && place->second < values.size() ? values[place->second] : value;
  };
  const ViewCall& whole = document_->calls()[call->second];
  part.args = whole.args;
  for (ViewArgument& arg : part.args) {
    for (auto& piece : arg.pieces) {
      auto* value = std::get_if<size_t>(&piece);
      if (value == nullptr) continue;
      const size_t inner = *value;
      *value = outside(inner, inside.inputs, inputs);
      // Another node of the delegate may make what the delegate returns.
      if (*value == inner) *value = outside(inner, inside.results, delegate.results);
    }
  }
  for (const size_t value : whole.results) {
    part.results.push_back(outside(value, inside.results, delegate.results));
  }
}

}  // namespace taper::tools
