// How a call stores tensors as float16, and reads those that are.
//
// A result is float16 where its shader can store it so, it is neither an output nor a state, and
// the payload is computed so (PayloadGraph::in_half). What reads it reads it as it is, or, if its
// shader cannot, as a copy of float32 that all such shaders share. So each shader that learns to
// read and write float16 (shaders.def) saves copies, and needs no other change than half_result()
// where its calls say what they compute.

#include <algorithm>

#include "backends/vulkan/planner/call.h"
#include "backends/vulkan/planner/ops/strided.h"

namespace taper::vulkan {
namespace {

// Which bindings of a shader may be float16.
constexpr uint8_t kHalves[] = {
#define TAPER_SHADER(name, halves) halves,
#include "backends/vulkan/planner/shaders.def"
#undef TAPER_SHADER
};

}  // namespace

Operand Call::half_result(size_t k, const Dims& dims, ScalarType dtype) {
  const Operand made = result(k, dims, dtype);
  const bool is_own = ok() && made.id < graph_.values.size();
  if (!is_own || plan_.is_placed_ || !in_half() || dtype != ScalarType::kFloat) return made;
  Place& place = plan_.places_[made.id];
  if (place.memory != Place::Memory::kArena || plan_.views_[made.id].is_output) return made;
  place.is_half = true;
  place.bytes = (static_cast<uint64_t>(std::max<int64_t>(dims.numel(), 1)) + 1) / 2 * 4;
  return made;
}

bool Call::has_halves(const Operand& tensor) const {
  const auto known = plan_.halves_.find(plan_.places_[tensor.id].root);
  return known != plan_.halves_.end() && known->second.filled == tensor.dims.numel();
}

bool Call::halves(const Operand& tensor, Operand& made, bool& is_new) {
  const ValueId root = plan_.places_[tensor.id].root;
  const int64_t elements = tensor.dims.numel();
  if (!ok() || plan_.places_[root].memory != Place::Memory::kArena || elements % 2 != 0) {
    return false;
  }
  const auto known = plan_.halves_.find(root);
  if (known == plan_.halves_.end()) {
    if (plan_.is_placed_ || elements / 2 > INT32_MAX) return false;
    made = add_temporary(elements / 2, /*is_shared=*/true);
    plan_.halves_[root] = {made.id, elements};
    is_new = true;
    return true;
  }
  Plan::OtherWidth& halves = known->second;
  const Place& place = plan_.places_[halves.made];
  const bool is_there =
      !plan_.is_placed_ || (place.first <= plan_.call_ && plan_.call_ <= place.last &&
                            static_cast<uint64_t>(elements) * 2 <= place.bytes);
  if (!is_there || (halves.filled != 0 && halves.filled != elements)) return false;
  is_new = halves.filled == 0;
  halves.filled = elements;
  made.id = halves.made;
  made.dims.push_back(elements / 2);
  plan_.note_use(made.id);
  return true;
}

Call& Call::bind(const Operand& operand, bool writes) {
  if (!ok()) return *this;
  const size_t index = last().num_bindings;
  ValueId id = operand.id;
  if (is_half(operand)) {
    const bool takes_halves = (kHalves[static_cast<size_t>(last().shader)] >> index & 1) != 0;
    if (!require(takes_halves || !writes, "its shader writes no float16")) return *this;
    if (takes_halves) last().halves |= static_cast<uint8_t>(1U << index);
    if (!takes_halves) id = widened(plan_.places_[id].root).id;
  }
  last().bindings[last().num_bindings++] = {id, writes};
  return *this;
}

Call& Call::reads_any(bool is_there, const Operand& operand) {
  if (is_there || !ok()) return bind(operand, false);
  Dispatch& to = last();
  to.bindings[to.num_bindings] = {to.bindings[1].value, false};
  ++to.num_bindings;
  return *this;
}

// A tensor of float16 as float32, for all shaders that do not read it as it is. It is made before
// the last dispatch.
Operand Call::widened(ValueId root) {
  const Operand from = {root, ScalarType::kFloat, graph_.values[root].dims};
  const auto known = plan_.widened_.find(root);
  Operand made = from;
  if (known == plan_.widened_.end()) {
    require(!plan_.is_placed_, "it needs more memory than with the largest sizes");
    if (!ok()) return made;
    made.id = add_temporary(graph_.values[root].limits.numel(), /*is_shared=*/true).id;
  } else {
    made.id = known->second.made;
    plan_.note_use(made.id);
    if (known->second.filled != 0) return made;
  }
  plan_.widened_[root] = {made.id, std::max<int64_t>(from.dims.numel(), 1)};
  const Dispatch reader = last();
  plan_.dispatches_.pop_back();
  copy(*this, from.dims, dense(made), dense(from));
  plan_.dispatches_.push_back(reader);
  return made;
}

Call& Call::groups_for_words(const Operand& out) {
  const int64_t elements = out.dims.numel();
  return groups_for(is_half(out) ? (elements + 1) / 2 : elements, 256);
}

}  // namespace taper::vulkan
