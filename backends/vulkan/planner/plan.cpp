// Calls are planned in order; then places are assigned, the largest first; then barriers are put
// where the memory of dispatches overlaps.

#include "backends/vulkan/planner/plan.h"

#include <algorithm>

#include "backends/vulkan/planner/arena.h"
#include "backends/vulkan/planner/call.h"
#include "backends/vulkan/planner/operators.h"
#include "backends/vulkan/planner/unstated_numbers.h"

namespace taper::vulkan {
namespace {

uint64_t padded(uint64_t bytes, uint64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

bool overlap(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

// Whether it makes another form of a constant for any call that asks, once.
bool packs_constant(const Dispatch& dispatch) {
  return dispatch.shader == Shader::pack_halves || dispatch.shader == Shader::winograd_weights;
}

bool takes_sizes(const PayloadGraph& graph, const PayloadCall& call) {
  const auto is_size = [&](int32_t id) {
    const PayloadValue& value = graph.values[static_cast<size_t>(id)];
    return value.kind == Kind::kSymInt || (value.kind == Kind::kInt && value.is_input);
  };
  return std::any_of(call.args.begin(), call.args.end(), [&](int32_t id) {
    const Span<const int32_t> items = graph.values[static_cast<size_t>(id)].values;
    return is_size(id) || std::any_of(items.begin(), items.end(), is_size);
  });
}

}  // namespace

Status Plan::plan_calls(PayloadGraph& graph) {
  dispatches_.clear();
  state_views_.clear();
  is_late_ = false;
  next_temporary_ = 0;
  rounding_.clear();
  for (auto& [root, halves] : halves_) halves.filled = 0;
  for (auto& [root, floats] : widened_) floats.filled = 0;
  if (!is_placed_) place_values(graph);
  if (!is_placed_) find_uses(graph);
  if (!is_placed_) choices_.assign(graph.calls.size(), 0);
  for (ValueId id = 0; id < graph.values.size(); ++id) {
    defined_[id] = graph.values[id].is_constant || graph.values[id].is_input;
    views_[id].is_open = views_[id].is_stored = false;
  }
  for (call_ = 0; call_ < graph.calls.size(); ++call_) {
    const PayloadCall& from = graph.calls[call_];
    if (from.is_fused) continue;
    while (next_temporary_ < temporaries_.size() && temporaries_[next_temporary_].call < call_) {
      ++next_temporary_;
    }
    Call call(graph, *this, from);
    from.op->plan(call, from.op->variant);
    call.store_states();
    TAPER_TRY(call.status());
  }
  for (const ValueId id : graph.outputs) {
    const bool is_tensor = graph.values[id].kind == Kind::kTensor;
    const bool is_packed = is_tensor && places_[places_[id].root].has_bytes;
    TAPER_REQUIRE(!is_packed && defined_[id] != 0, Error::kDelegateInvalidCompatibility,
                  "an output of the payload is never written");
    if (is_tensor) note_use(id);
  }
  TAPER_REQUIRE(!is_late_, Error::kInternal,
                "with these sizes a tensor is used longer than with the largest");
  return {};
}

Status Plan::build(PayloadGraph& graph, const Limits& limits) {
  limits_ = limits;
  if (!is_placed_) find_unstated_numbers(graph);
  TAPER_TRY(plan_calls(graph));
  if (!is_placed_) {
    find_constants(graph);
    find_loading(graph);
    assign_offsets(graph, limits);
  }
  for (Dispatch& dispatch : dispatches_) {
    dispatch.once = false;
    for (size_t i = 0; i < dispatch.num_bindings; ++i) {
      const Dispatch::Binding& binding = dispatch.bindings[i];
      if (!binding.writes || binding.value == kFaultValue) continue;
      dispatch.once = root_of(binding.value).memory == Place::Memory::kConstants;
    }
  }
  is_placed_ = true;
  for (const bool once : {false, true}) find_barriers(once);
  return check(limits);
}

void Plan::place_values(PayloadGraph& graph) {
  defined_.resize(graph.values.size());
  places_.resize(graph.values.size());
  views_.resize(graph.values.size());
  for (const ValueId id : graph.outputs) views_[id].is_output = true;
  for (ValueId id = 0; id < graph.values.size(); ++id) {
    const PayloadValue& value = graph.values[id];
    if (value.kind != Kind::kTensor) continue;
    Place& place = places_[id];
    place.memory = value.is_state      ? Place::Memory::kStates
                   : value.is_constant ? Place::Memory::kConstants
                                       : Place::Memory::kArena;
    place.root = id;
    place.bytes = static_cast<uint64_t>(std::max<int64_t>(value.limits.numel(), 1)) * 4;
    place.first = value.is_input ? 0 : UINT32_MAX;
  }
}

// The next temporary tensor that is one call's own. Calls that need none for these sizes may have
// taken some for the largest.
size_t& Plan::skip_shared() {
  while (next_temporary_ < temporaries_.size()) {
    const Temporary& next = temporaries_[next_temporary_];
    if (!next.is_shared && (!is_placed_ || next.call >= call_)) break;
    ++next_temporary_;
  }
  return next_temporary_;
}

void Plan::note_use(ValueId value) {
  Place& root = places_[places_[value].root];
  if (is_placed_) {
    const bool is_inside = root.first <= call_ && call_ <= root.last;
    is_late_ = is_late_ || (root.memory == Place::Memory::kArena && !is_inside);
    return;
  }
  root.first = std::min(root.first, call_);
  root.last = std::max(root.last, call_);
}

void Plan::find_uses(const PayloadGraph& graph) {
  last_reads_.assign(graph.values.size(), 0);
  state_writes_.resize(graph.values.size());
  for (uint32_t i = 0; i < graph.calls.size(); ++i) {
    const PayloadCall& call = graph.calls[i];
    if (call.is_fused) continue;
    const auto for_each = [&](int32_t id, const auto& visit) {
      if (id < 0) return;
      visit(static_cast<size_t>(id));
      for (const int32_t item : graph.values[static_cast<size_t>(id)].values) {
        visit(static_cast<size_t>(item));
      }
    };
    const auto read = [&](size_t id) { last_reads_[id] = i; };
    for (size_t k = 0; k + 1 < call.args.size(); ++k) for_each(call.args[k], read);
    for_each(call.epilogue.added, read);
    for_each(call.norm.weight, read);
    for_each(call.result(), [&](size_t id) {
      if (graph.values[id].is_state) state_writes_[id].push_back(i);
    });
    for (const int32_t id : call.written()) state_writes_[static_cast<size_t>(id)].push_back(i);
  }
  for (const ValueId id : graph.outputs) last_reads_[id] = UINT32_MAX;
}

bool Plan::outlives(ValueId view, ValueId state) const {
  if (view >= last_reads_.size() || state >= state_writes_.size()) return false;
  const std::vector<uint32_t>& writes = state_writes_[state];
  const auto next = std::lower_bound(writes.begin(), writes.end(), call_);
  return next != writes.end() && last_reads_[view] > *next;
}

void Plan::forget_views(ValueId state) {
  const auto end =
      std::remove_if(state_views_.begin(), state_views_.end(), [&](const StateView& each) {
        if (each.root == state) defined_[each.view] = 0;
        return each.root == state;
      });
  state_views_.erase(end, state_views_.end());
}

// A tensor is constant if all that write it read constants alone.
void Plan::find_constants(const PayloadGraph& graph) {
  std::vector<uint8_t> sized;  // Calls that depend on sizes of inputs.
  for (const PayloadCall& call : graph.calls) sized.push_back(takes_sizes(graph, call));
  std::vector<uint8_t> varies(places_.size());  // Of roots.
  for (const ValueId id : graph.inputs) varies[id] = 1;
  for (const ValueId id : graph.outputs) {
    if (graph.values[id].kind == Kind::kTensor) varies[places_[id].root] = 1;
  }
  for (ValueId id = 0; id < graph.values.size(); ++id) varies[id] |= graph.values[id].is_state;
  for (bool changed = true; changed;) {
    changed = false;
    for (const Dispatch& dispatch : dispatches_) {
      // What is made of constants for any call does not depend on the call that asks first.
      bool any = sized[dispatch.call] != 0 && !packs_constant(dispatch);
      for (size_t i = 0; i < dispatch.num_bindings && !any; ++i) {
        const ValueId value = dispatch.bindings[i].value;
        any = value == kFaultValue || varies[places_[value].root] != 0;
      }
      for (size_t i = 0; i < dispatch.num_bindings && any; ++i) {
        const ValueId value = dispatch.bindings[i].value;
        if (!dispatch.bindings[i].writes || value == kFaultValue) continue;
        uint8_t& written = varies[places_[value].root];
        changed = changed || written == 0;
        written = 1;
      }
    }
  }
  for (const Dispatch& dispatch : dispatches_) {
    for (size_t i = 0; i < dispatch.num_bindings; ++i) {
      const ValueId value = dispatch.bindings[i].value;
      if (!dispatch.bindings[i].writes || value == kFaultValue) continue;
      const ValueId root = places_[value].root;
      if (varies[root] == 0) places_[root].memory = Place::Memory::kConstants;
    }
  }
}

// Constants that are packed, and read by nothing else.
void Plan::find_loading(const PayloadGraph& graph) {
  std::vector<uint8_t> stays(places_.size(), 1);  // Of roots.
  for (const bool packs : {true, false}) {
    for (const Dispatch& dispatch : dispatches_) {
      if (packs != packs_constant(dispatch)) continue;
      for (size_t i = 0; i < dispatch.num_bindings; ++i) {
        const Dispatch::Binding& binding = dispatch.bindings[i];
        if (binding.value == kFaultValue) continue;
        stays[places_[binding.value].root] = !packs || binding.writes;
      }
    }
  }
  for (const ValueId id : graph.outputs) stays[places_[id].root] = 1;
  for (ValueId id = 0; id < places_.size(); ++id) {
    if (stays[id] == 0) places_[id].memory = Place::Memory::kLoading;
  }
}

void Plan::assign_offsets(const PayloadGraph& graph, const Limits& limits) {
  std::vector<ArenaBlock> blocks;
  std::vector<Place*> owners;
  for (ValueId id = 0; id < places_.size(); ++id) {
    Place& place = places_[id];
    const bool is_used = place.root == id && place.first <= place.last;
    const bool is_loading = place.memory == Place::Memory::kLoading;
    if ((place.memory == Place::Memory::kConstants || is_loading) && is_used) {
      uint64_t& end = is_loading ? loading_bytes_ : constant_bytes_;
      place.offset = end;
      end += padded(place.bytes, limits.alignment);
    } else if (place.memory == Place::Memory::kStates && is_used) {
      place.offset = state_bytes_;
      state_bytes_ += padded(place.bytes, limits.alignment);
    } else if (place.memory == Place::Memory::kArena && is_used) {
      place.bytes = padded(place.bytes, limits.alignment);
      ArenaBlock block;
      block.bytes = place.bytes;
      block.first = place.first;
      block.last = place.last;
      blocks.push_back(block);
      owners.push_back(&place);
    }
  }
  arena_bytes_ = pack(blocks);
  arena_bound_ = least_bytes(blocks, graph.calls.size());
  for (size_t i = 0; i < blocks.size(); ++i) owners[i]->offset = blocks[i].offset;
}

// Whether one writes memory that the other accesses.
bool Plan::conflict(const Dispatch& one, const Dispatch& two) const {
  for (size_t a = 0; a < one.num_bindings; ++a) {
    for (size_t b = 0; b < two.num_bindings; ++b) {
      const Dispatch::Binding& mine = one.bindings[a];
      const Dispatch::Binding& other = two.bindings[b];
      if (!mine.writes && !other.writes) continue;
      if (mine.value == kFaultValue || other.value == kFaultValue) continue;
      const Place& here = root_of(mine.value);
      const Place& there = root_of(other.value);
      if (here.memory == there.memory &&
          overlap(here.offset, here.bytes, there.offset, there.bytes)) {
        return true;
      }
    }
  }
  return false;
}

// Those that run once are recorded apart from those that run every time, and those without
// workgroups not at all: a barrier must stand before one that is recorded with what it waits for.
void Plan::find_barriers(bool once) {
  constexpr size_t kMostWithout = 1024;  // Then one more costs nothing, and comparing all would.
  const auto is_recorded = [once](const Dispatch& dispatch) {
    return dispatch.once == once && dispatch.groups[0] != 0 && dispatch.groups[1] != 0 &&
           dispatch.groups[2] != 0;
  };
  size_t since = 0, pending = 0;
  for (size_t i = 0; i < dispatches_.size(); ++i) {
    Dispatch& dispatch = dispatches_[i];
    if (!is_recorded(dispatch)) continue;
    dispatch.barrier = pending == kMostWithout;
    for (size_t j = since; j < i && !dispatch.barrier; ++j) {
      dispatch.barrier = is_recorded(dispatches_[j]) && conflict(dispatch, dispatches_[j]);
    }
    if (dispatch.barrier) {
      since = i;
      pending = 0;
    }
    ++pending;
  }
}

Status Plan::check(const Limits& limits) const {
  TAPER_REQUIRE(arena_bytes_ <= limits.bytes && constant_bytes_ <= limits.bytes - arena_bytes_ &&
                    loading_bytes_ <= limits.bytes - arena_bytes_ - constant_bytes_ &&
                    state_bytes_ <= limits.bytes - arena_bytes_ - constant_bytes_ - loading_bytes_,
                Error::kDelegateMemoryAllocationFailed, "it needs more memory than the device has");
  for (const Place& place : places_) {
    TAPER_REQUIRE(place.bytes <= limits.range, Error::kDelegateMemoryAllocationFailed,
                  "a tensor is larger than the device binds at once");
  }
  for (const Dispatch& dispatch : dispatches_) {
    for (size_t i = 0; i < 3; ++i) {
      TAPER_REQUIRE(dispatch.groups[i] <= limits.groups[i], Error::kDelegateInvalidCompatibility,
                    "it needs more workgroups than the device starts at once");
    }
    for (size_t i = 0; i < dispatch.num_bindings; ++i) {
      const ValueId value = dispatch.bindings[i].value;
      TAPER_REQUIRE(
          dispatch.once || value == kFaultValue || root_of(value).memory != Place::Memory::kLoading,
          Error::kDelegateInvalidCompatibility,
          "it reads a constant that is packed with the largest sizes");
    }
  }
  return {};
}

}  // namespace taper::vulkan
