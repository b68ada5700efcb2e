#include "tools/profile/timeline.h"

#include <algorithm>

namespace taper::tools {
namespace {

constexpr size_t kInstructions = 0, kSteps = 1, kThreads = 2;  // Tracks.

// Bytes of the planned buffers that hold a value, by instruction.
std::vector<double> planned_bytes(const MethodMemory& memory) {
  std::vector<double> bytes(memory.instructions, 0);
  for (const MemoryRow& row : memory.rows) {
    for (size_t i = row.first; i <= row.last && i < bytes.size(); ++i) {
      bytes[i] += static_cast<double>(row.bytes);
    }
  }
  return bytes;
}

Slice slice_of(const RecordedEvent& event, const ProfileRow& row) {
  Slice slice = {row.is_step ? kSteps : kInstructions, row.name, event.begin, event.end, {}};
  slice.details = {{"place", row.place},  {"op", row.op},         {"runs on", row.runs_on},
                   {"result", row.sizes}, {"module", row.module}, {"line", row.line}};
  if (row.work.bytes > 0) {
    slice.details.emplace_back("bytes read and written",
                               std::to_string(static_cast<uint64_t>(row.work.bytes)));
  }
  if (event.temp_bytes > 0) {
    slice.details.emplace_back("temp bytes", std::to_string(event.temp_bytes));
  }
  return slice;
}

// Adds the value unless it is that of the counter already.
void count(CounterTrack& counter, double time, double value) {
  if (!counter.values.empty() && counter.values.back().second == value) return;
  counter.values.emplace_back(time, value);
}

void add_run(const std::vector<RecordedEvent>& events, const ProfileResult& profile,
             const std::vector<double>& planned, Timeline& to) {
  if (events.empty()) return;
  double end = 0;
  for (const RecordedEvent& event : events) {
    if (event.step == RecordedEvent::kWhole) end = std::max(end, event.end);
  }
  to.slices.push_back({kInstructions, "run", events[0].begin, end, {}});
  for (const RecordedEvent& event : events) {
    to.slices.push_back(slice_of(event, profile.row_of(event)));
    if (event.step != RecordedEvent::kWhole) continue;
    const bool known = event.chain == 0 && event.instruction < planned.size();
    count(to.counters[0], event.begin, known ? planned[event.instruction] : 0);
    count(to.counters[1], event.begin, static_cast<double>(event.temp_bytes));
  }
  for (CounterTrack& counter : to.counters) count(counter, end, 0);
}

void add_tasks(const Recorder& recorder, const ProfileResult& profile, Timeline& to) {
  for (const RecordedTask& task : recorder.tasks()) {
    const size_t track = task.thread == 0 ? kInstructions : kThreads + task.thread - 1;
    while (to.tracks.size() <= track) {
      to.tracks.push_back("thread " + std::to_string(to.tracks.size() - kThreads + 1));
    }
    const RecordedEvent event = {task.chain, task.instruction, RecordedEvent::kWhole, 0, 0, 0};
    const ProfileRow& row = profile.row_of(event);
    to.slices.push_back({track, row.name, task.begin, task.end, {{"part of", row.place}}});
  }
}

}  // namespace

Timeline timeline_of(const Recorder& recorder, const ProfileResult& profile,
                     const MethodMemory& memory) {
  Timeline timeline;
  timeline.tracks = {"instructions", "steps of backends"};
  timeline.counters = {{"planned bytes alive", {}}, {"temp bytes", {}}};
  for (const RecordedPhase& phase : recorder.phases()) {
    timeline.slices.push_back({kInstructions, phase.name, phase.begin, phase.end, {}});
  }
  const std::vector<double> planned = planned_bytes(memory);
  for (const std::vector<RecordedEvent>& run : recorder.runs()) {
    add_run(run, profile, planned, timeline);
  }
  add_tasks(recorder, profile, timeline);
  return timeline;
}

}  // namespace taper::tools
