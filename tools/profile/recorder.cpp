#include "tools/profile/recorder.h"

namespace taper::tools {

bool Recorder::has_room() {
  is_cut_ = is_cut_ || count_ == kMostEvents;
  if (is_cut_ || runs_.empty()) return false;
  ++count_;
  return true;
}

void Recorder::begin(uint32_t chain, uint32_t instruction) {
  current_ = SIZE_MAX;
  if (!has_room()) return;
  current_ = runs_.back().size();
  runs_.back().push_back({chain, instruction, RecordedEvent::kWhole, 0, 0});
  step_end_ = runs_.back().back().begin = now();
}

void Recorder::end() {
  const double time = now();
  if (current_ != SIZE_MAX) runs_.back()[current_].end = time;
  current_ = SIZE_MAX;
}

// A step that does not say when it began is put behind the one before it.
void Recorder::add(const ProfiledStep& step) {
  if (current_ == SIZE_MAX || !has_room()) return;
  const RecordedEvent call = runs_.back()[current_];
  std::vector<StepName>& names = steps_[{call.chain, call.instruction}];
  if (step.index >= names.size()) names.resize(size_t{step.index} + 1);
  names[step.index] = {std::string(step.op), std::string(step.kernel), std::string(step.sizes),
                       step.node};
  const double begin = step.begin < 0 ? step_end_ : call.begin + step.begin;
  step_end_ = begin + step.seconds;
  runs_.back().push_back({call.chain, call.instruction, step.index, begin, step_end_});
}

const std::vector<StepName>& Recorder::steps_of(Place place) const {
  static const std::vector<StepName> kNone;
  const auto found = steps_.find(place);
  return found == steps_.end() ? kNone : found->second;
}

}  // namespace taper::tools
