#include "tools/profile/etdump_timeline.h"

#include <algorithm>

namespace taper::tools {
namespace {

constexpr size_t kInstructions = 0, kSteps = 1;  // Tracks.

bool is_step(const EtEvent& event) {
  return event.delegate_number >= 0 || !event.delegate_name.empty();
}

// Delegates may count in other units, or by another clock: a step is left out unless it lies within
// the time that the calls of its block span.
bool lies_within(const EtEvent& event, uint64_t begin, uint64_t end) {
  return event.begin >= begin && event.end <= end;
}

void add_block(const EtBlock& block, uint64_t start, Timeline& to) {
  uint64_t begin = UINT64_MAX, end = 0;
  for (const EtEvent& event : block.events) {
    if (is_step(event)) continue;
    begin = std::min(begin, event.begin);
    end = std::max(end, event.end);
  }
  const auto seconds = [&](uint64_t time) { return static_cast<double>(time - start) * 1e-9; };
  for (const EtEvent& event : block.events) {
    if (is_step(event) && !lies_within(event, begin, end)) continue;
    Slice slice = {is_step(event) ? kSteps : kInstructions,
                   event.name,
                   seconds(event.begin),
                   seconds(event.end),
                   {}};
    if (!event.delegate_name.empty()) slice.name = event.delegate_name;
    if (event.chain >= 0) slice.details = {{"place", std::to_string(event.instruction)}};
    to.slices.push_back(std::move(slice));
  }
}

}  // namespace

Timeline timeline_of(const EtDump& dump) {
  Timeline timeline;
  timeline.tracks = {"instructions", "steps of backends"};
  uint64_t start = UINT64_MAX;
  for (const EtBlock& block : dump.blocks) {
    for (const EtEvent& event : block.events) {
      if (!is_step(event)) start = std::min(start, event.begin);
    }
  }
  for (const EtBlock& block : dump.blocks) add_block(block, start, timeline);
  return timeline;
}

}  // namespace taper::tools
