// Finds the lifetimes of values, stretches them over loops, then goes through the steps in order
// and gives each result a place: that of its base if it is a view, of a state, of an operand that
// dies there, or a storage of its own.

#include "exir/memory/storage.h"

#include <algorithm>
#include <optional>
#include <string>

#include "exir/memory/aliasing.h"

namespace taper::exir {
namespace {

constexpr size_t kNever = SIZE_MAX;

struct Life {
  size_t first = kNever;
  size_t last = 0;
  void touch(size_t step) {
    first = first == kNever ? step : std::min(first, step);
    last = std::max(last, step);
  }
};

bool is_tensor(const Value* value) { return value->kind == ValueKind::kTensor; }

bool is_in_loop(const Schedule& schedule, size_t step) {
  return std::any_of(schedule.loops.begin(), schedule.loops.end(),
                     [&](const Loop& loop) { return loop.first <= step && step <= loop.last; });
}

class Assigner {
 public:
  Assigner(const Graph& graph, const Schedule& schedule, IoMemory io)
      : graph_(graph),
        schedule_(schedule),
        end_(schedule.steps.size()),
        external_(mutated_inputs(graph)) {
    if (io == IoMemory::kPlanned) return;
    for (const Argument& input : graph.inputs) {
      if (input.is_value() && is_tensor(input.value())) external_.insert(input.value());
    }
    external_.merge(bindable_outputs(graph, schedule));
  }

  Storages run() {
    find_lives();
    stretch_over_loops();
    for (const Mutation& mutation : graph_.mutations) {
      if (mutation.target->role == ValueRole::kState) state_of_[mutation.source] = mutation.target;
    }
    place_inputs_and_states();
    for (size_t i = 0; i < end_; ++i) {
      if (schedule_.steps[i].kind == StepKind::kCall) place_results(i, *schedule_.steps[i].node);
    }
    return std::move(out_);
  }

 private:
  void use(const Argument& arg, size_t step) {
    for_each_value(arg, [&](Value* value) { lives_[value].touch(step); });
  }

  void find_lives() {
    for (const Argument& input : graph_.inputs) use(input, 0);
    for (size_t i = 0; i < end_; ++i) {
      const Step& step = schedule_.steps[i];
      if (step.node != nullptr) {
        for (const Argument& arg : step.node->args) use(arg, i);
        for (Value* value : step.node->outputs) lives_[value].touch(i);
      }
      use(step.from, i);
      if (step.to != nullptr) lives_[step.to].touch(i);
    }
    for (const Argument& output : graph_.outputs) use(output, end_);
    for (const Mutation& mutation : graph_.mutations) lives_[mutation.source].touch(end_);
  }

  void stretch_over_loops() {
    for (const Loop& loop : schedule_.loops) {
      for (auto& [value, life] : lives_) {
        const bool used_inside = life.last >= loop.first && life.first < loop.first;
        if (used_inside) life.last = std::max(life.last, loop.last);
      }
      // The result of a scan is filled slice by slice: it lives throughout the loop.
      for (Value* value : schedule_.grown) {
        Life& life = lives_[value];
        if (life.first >= loop.first && life.first <= loop.last) {
          life.touch(loop.first);
          life.touch(loop.last);
        }
      }
    }
  }

  Place new_storage(const Value* value, const Life& life) {
    out_.rows.push_back({life.first, life.last, upper_bytes(value->type, graph_.ranges)});
    members_.push_back({value});
    return {static_cast<int64_t>(out_.rows.size()) - 1, 0, nullptr};
  }

  void place_inputs_and_states() {
    for (const Argument& input : graph_.inputs) {
      if (!input.is_value() || !is_tensor(input.value())) continue;
      const Value* value = input.value();
      if (external_.count(value) == 0) out_.places[value] = new_storage(value, lives_[value]);
    }
    for (const Value* value : graph_.constants) {
      if (value->role == ValueRole::kState) {
        out_.places[value] = new_storage(value, {0, end_});
        fixed_.insert(out_.places[value].storage);
      } else {
        out_.places[value] = {-1, 0, value};
      }
    }
  }

  void join(const Value* value, Place place) {
    PlanRow& row = out_.rows[static_cast<size_t>(place.storage)];
    row.last = std::max(row.last, lives_[value].last);
    members_[static_cast<size_t>(place.storage)].push_back(value);
    out_.places[value] = place;
  }

  void place_results(size_t step, const Node& node) {
    // Arguments that the kernel writes and that have no producer need a storage.
    for (size_t i = 0; i < node.args.size(); ++i) {
      if (!node.schema->args[i].written() || !node.args[i].is_value()) continue;
      const Value* value = node.args[i].value();
      if (out_.places.count(value) == 0 && external_.count(value) == 0) {
        out_.places[value] = new_storage(value, lives_[value]);
      }
    }
    std::vector<ViewOf> views = views_of(node);
    // Unless all results are views, the kernel runs and writes each: none may lie in its operand.
    if (views.size() > 1 && !can_all_be_views(node, views)) views.clear();
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const Value* value = node.outputs[i];
      if (!is_tensor(value) || out_.places.count(value) != 0) continue;
      if (external_.count(value) != 0) continue;
      if (i < views.size() && place_view(value, views[i])) continue;
      if (place_in_state(step, node, value) || place_in_operand(step, node, value)) continue;
      out_.places[value] = new_storage(value, lives_[value]);
    }
    if (!views.empty() && views.size() == node.outputs.size() && all_views(node, views)) {
      out_.elided.insert(step);
    }
  }

  // A view shares its base's storage, unless that is a state that is overwritten while the view
  // lives.
  bool place_view(const Value* value, const ViewOf& view) {
    const std::optional<Place> place = place_of_view(value, view);
    if (!place) return false;
    if (place->storage < 0) {
      out_.places[value] = *place;
    } else {
      join(value, *place);
    }
    return true;
  }

  std::optional<Place> place_of_view(const Value* value, const ViewOf& view) const {
    if (view.base == nullptr || !value->type.is_static() || !view.base->type.is_static()) {
      return std::nullopt;
    }
    const auto base = out_.places.find(view.base);
    if (base == out_.places.end()) return std::nullopt;
    Place place = base->second;
    place.offset += view.offset;
    if (place.storage < 0) {
      if (place.offset != 0) return std::nullopt;
    } else if (fixed_.count(place.storage) != 0 && lives_.at(value).last >= end_) {
      return std::nullopt;
    }
    return place;
  }

  bool can_all_be_views(const Node& node, const std::vector<ViewOf>& views) const {
    for (size_t i = 0; i < views.size(); ++i) {
      const Value* value = node.outputs[i];
      if (external_.count(value) != 0 || out_.places.count(value) != 0) return false;
      if (!place_of_view(value, views[i])) return false;
    }
    return true;
  }

  bool all_views(const Node& node, const std::vector<ViewOf>& views) const {
    for (size_t i = 0; i < views.size(); ++i) {
      if (views[i].base == nullptr) return false;
      const auto value = out_.places.find(node.outputs[i]);
      const auto base = out_.places.find(views[i].base);
      if (value == out_.places.end() || base == out_.places.end()) return false;
      const bool same = value->second.storage == base->second.storage &&
                        value->second.constant == base->second.constant &&
                        value->second.offset == base->second.offset + views[i].offset;
      if (!same) return false;
    }
    return true;
  }

  // The last step that uses any value in the storage.
  size_t last_read(int64_t storage) const {
    size_t last = 0;
    for (const Value* member : members_[static_cast<size_t>(storage)]) {
      const auto life = lives_.find(member);  // A state that is never read has none.
      if (life != lives_.end()) last = std::max(last, life->second.last);
    }
    return last;
  }

  bool same_bytes(const Value* a, const Value* b) const { return a->type == b->type; }

  // True if `node` may write `value` over `operand`: the kernel allows it, and every other operand
  // in that storage is the same whole tensor.
  bool may_overwrite(const Node& node, const Value* operand, const Value* value) const {
    if (!same_bytes(operand, value) || !writes_in_place(node, operand, value)) return false;
    const Place place = out_.places.at(operand);
    bool safe = true;
    for_each_value(node, [&](Value* other) {
      if (!is_tensor(other) || other == operand) return;
      const auto found = out_.places.find(other);
      if (found == out_.places.end() || found->second.storage != place.storage) return;
      safe = safe && found->second.offset == place.offset && same_bytes(other, value) &&
             writes_in_place(node, other, value);
    });
    for (const Value* other : node.outputs) {  // Two results never share.
      const auto found = other == value ? out_.places.end() : out_.places.find(other);
      safe = safe && (found == out_.places.end() || found->second.storage != place.storage);
    }
    return safe;
  }

  bool reads(const Node& node, int64_t storage) const {
    bool found = false;
    for_each_value(node, [&](Value* value) {
      const auto place = out_.places.find(value);
      found = found || (place != out_.places.end() && place->second.storage == storage);
    });
    return found;
  }

  bool place_in_state(size_t step, const Node& node, const Value* value) {
    const auto mutation = state_of_.find(value);
    if (mutation == state_of_.end()) return false;
    const Value* state = mutation->second;
    const Place place = out_.places.at(state);
    if (!same_bytes(state, value)) return false;
    if (last_read(place.storage) > step || written_states_.count(state) != 0) return false;
    if (is_in_loop(schedule_, step)) return false;
    if (reads(node, place.storage) && !may_overwrite(node, state, value)) return false;
    written_states_.insert(state);
    out_.written_back.insert(state);
    join(value, place);
    return true;
  }

  bool place_in_operand(size_t step, const Node& node, const Value* value) {
    bool placed = false;
    for_each_value(node, [&](Value* operand) {
      if (placed || !is_tensor(operand)) return;
      const auto found = out_.places.find(operand);
      if (found == out_.places.end() || found->second.storage < 0) return;
      const Place place = found->second;
      const PlanRow& row = out_.rows[static_cast<size_t>(place.storage)];
      const bool dies = row.last == step && fixed_.count(place.storage) == 0;
      if (!dies || last_read(place.storage) != step) return;
      // A part of a larger storage would keep all of it alive.
      if (row.bytes > upper_bytes(value->type, graph_.ranges)) return;
      if (!may_overwrite(node, operand, value)) return;
      join(value, place);
      placed = true;
    });
    return placed;
  }

  const Graph& graph_;
  const Schedule& schedule_;
  const size_t end_;
  std::unordered_set<const Value*> external_;  // In memory of the application.
  std::unordered_map<const Value*, Life> lives_;
  std::unordered_map<const Value*, const Value*> state_of_;  // New value -> state.
  std::unordered_set<const Value*> written_states_;
  std::unordered_set<int64_t> fixed_;               // Storages of states.
  std::vector<std::vector<const Value*>> members_;  // Per storage.
  Storages out_;
};

}  // namespace

std::unordered_set<const Value*> mutated_inputs(const Graph& graph) {
  std::unordered_set<const Value*> out;
  for (const Mutation& mutation : graph.mutations) {
    if (mutation.target->role == ValueRole::kInput) out.insert(mutation.target);
  }
  return out;
}

std::unordered_set<const Value*> bindable_outputs(const Graph& graph, const Schedule& schedule) {
  std::unordered_set<const Value*> wanted, out;
  for (const Argument& output : graph.outputs) {
    if (output.is_value() && is_tensor(output.value())) wanted.insert(output.value());
  }
  for (const Mutation& mutation : graph.mutations) wanted.erase(mutation.source);
  for (const Value* value : schedule.grown) wanted.erase(value);
  for (const Step& step : schedule.steps) {
    if (step.to != nullptr) wanted.erase(step.to);
  }
  for (size_t i = 0; i < schedule.steps.size(); ++i) {
    const Step& step = schedule.steps[i];
    if (step.kind != StepKind::kCall || is_in_loop(schedule, i)) continue;
    for (const Value* value : step.node->outputs) {
      if (wanted.count(value) != 0) out.insert(value);
    }
  }
  return out;
}

std::vector<int64_t> upper_sizes(const TensorType& type, const SymRanges& ranges) {
  std::vector<int64_t> out;
  for (const Sym& size : type.sizes) {
    const int64_t most = size.is_int() ? size.as_int() : size.range(ranges).max;
    if (most == SymRange::kUnbounded) {
      throw Failure("the size " + size.text() +
                    " has no upper bound: export with "
                    "torch.export.Dim(\"...\", max=...) for each symbol in it");
    }
    if (most < 0 || most > INT32_MAX) {
      throw Failure("the size " + size.text() + " may be " + std::to_string(most) +
                    ", which the file format cannot hold");
    }
    out.push_back(most);
  }
  return out;
}

uint64_t upper_bytes(const TensorType& type, const SymRanges& ranges) {
  uint64_t bytes = element_size(type.dtype);
  for (int64_t size : upper_sizes(type, ranges)) {
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes) ||
        bytes > (uint64_t{1} << 46)) {
      throw Failure("a tensor needs more than 64 TiB");
    }
  }
  return bytes;
}

Storages assign_storages(const Graph& graph, const Schedule& schedule, IoMemory io) {
  return Assigner(graph, schedule, io).run();
}

}  // namespace taper::exir
