#include "tools/profile/recorder.h"

#include <algorithm>

namespace taper::tools {

bool Recorder::has_room() {
  is_cut_ = is_cut_ || count_ == kMostEvents;
  if (is_cut_ || runs_.empty()) return false;
  ++count_;
  return true;
}

void Recorder::close(double time) {
  if (current_ != SIZE_MAX) runs_.back()[current_].end = time;
  current_ = SIZE_MAX;
}

// A run is about as long as the one before it.
void Recorder::start_run() {
  const size_t events = runs_.empty() ? 256 : runs_.back().size() + 1;
  runs_.emplace_back();
  runs_.back().reserve(std::min(events, kMostEvents - count_));
}

void Recorder::begin(uint32_t chain, uint32_t instruction) {
  const double time = seconds();
  close(time);
  if (!has_room()) return;
  current_ = runs_.back().size();
  runs_.back().push_back({chain, instruction, RecordedEvent::kWhole, time, time});
  step_end_ = time;
}

void Recorder::used_temp(size_t bytes) {
  if (current_ != SIZE_MAX) runs_.back()[current_].temp_bytes = bytes;
}

void Recorder::end() { close(seconds()); }

// A step that does not say when it began is put behind the one before it.
void Recorder::add(const ProfiledStep& step) {
  if (current_ == SIZE_MAX || !has_room()) return;
  const RecordedEvent call = runs_.back()[current_];
  std::vector<StepName>& names = steps_[{call.chain, call.instruction}];
  if (step.index >= names.size()) names.resize(size_t{step.index} + 1);
  // This is part of the time of the call, so what is known is not copied again.
  StepName& name = names[step.index];
  if (name.op != step.op) name.op = step.op;
  if (name.kernel != step.kernel) name.kernel = step.kernel;
  if (name.sizes != step.sizes) name.sizes = step.sizes;
  name.node = step.node;
  const double begin = step.begin < 0 ? step_end_ : call.begin + step.begin;
  step_end_ = begin + step.seconds;
  runs_.back().push_back({call.chain, call.instruction, step.index, begin, step_end_});
}

uint32_t Recorder::track_of(uint32_t thread) {
  tracks_.try_emplace(number_of_this_thread(), 0);  // The thread that executes, which asks.
  return tracks_.try_emplace(thread, static_cast<uint32_t>(tracks_.size())).first->second;
}

void Recorder::add(Span<const TaskTime> tasks) {
  if (current_ == SIZE_MAX) return;
  const RecordedEvent& call = runs_.back()[current_];
  for (const TaskTime& task : tasks) {
    if (!has_room()) return;
    tasks_.push_back({track_of(task.thread), call.chain, call.instruction, seconds_at(task.begin),
                      seconds_at(task.end)});
  }
}

void Recorder::enter(std::string_view phase) {
  const double time = seconds();
  if (in_phase_) phases_.back().end = time;
  in_phase_ = !phase.empty();
  if (in_phase_) phases_.push_back({std::string(phase), time, time});
}

const std::vector<StepName>& Recorder::steps_of(Place place) const {
  static const std::vector<StepName> none;
  const auto found = steps_.find(place);
  return found == steps_.end() ? none : found->second;
}

}  // namespace taper::tools
