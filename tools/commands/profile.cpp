// Collects the times of steps.

#include "tools/commands/profile.h"

#include <algorithm>

namespace taper::tools {

double ProfiledTimes::median() const {
  std::vector<double> sorted = seconds;
  const auto middle = sorted.begin() + static_cast<ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

void Profile::add(const ProfiledStep& step) {
  const auto [at, is_new] = places_.try_emplace({step.delegate, step.index}, steps_.size());
  if (is_new) {
    steps_.push_back({std::string(step.op), std::string(step.kernel), std::string(step.sizes), {}});
  }
  steps_[at->second].seconds.push_back(step.seconds);
}

}  // namespace taper::tools
