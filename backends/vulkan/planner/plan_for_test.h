// Plans payloads for tests, and looks for what must not be in a plan.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "backends/vulkan/planner/fuse.h"
#include "backends/vulkan/planner/payload_for_test.h"
#include "backends/vulkan/planner/plan.h"

namespace taper::vulkan {

struct Planned {
  explicit Planned(std::vector<uint8_t> payload, const Limits& limits = {}, bool fuses = false,
                   bool in_half = false)
      : bytes(std::move(payload)) {
    const NoConstants none;
    status = graph.read({bytes.data(), bytes.size()}, &none);
    graph.in_half = in_half;
    if (status.ok() && fuses) fuse(graph);
    if (status.ok()) status = plan.build(graph, limits);
  }

  std::vector<bool> barriers() const {
    std::vector<bool> all;
    for (const Dispatch& dispatch : plan.dispatches()) all.push_back(dispatch.barrier);
    return all;
  }
  uint64_t offset(PayloadBuilder::Id id) const {
    return plan.places()[static_cast<size_t>(id)].offset;
  }

  const std::vector<uint8_t> bytes;
  PayloadGraph graph;
  Plan plan;
  Status status;
};

// A message for each two tensors that lie in the same bytes of the arena at the same call.
inline std::string overlaps(const Plan& plan) {
  std::string found;
  const std::vector<Place>& places = plan.places();
  for (size_t a = 0; a < places.size(); ++a) {
    const Place& one = places[a];
    if (one.memory != Place::Memory::kArena || one.root != a || one.first > one.last) continue;
    if (one.offset + one.bytes > plan.arena_bytes()) found += std::to_string(a) + " is outside; ";
    for (size_t b = 0; b < a; ++b) {
      const Place& two = places[b];
      if (two.memory != Place::Memory::kArena || two.root != b || two.first > two.last) continue;
      const bool together = one.first <= two.last && two.first <= one.last;
      if (together && one.offset < two.offset + two.bytes && two.offset < one.offset + one.bytes) {
        found += std::to_string(a) + " and " + std::to_string(b) + "; ";
      }
    }
  }
  return found;
}

}  // namespace taper::vulkan
