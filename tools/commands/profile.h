// The times of the steps of executions, as backends tell them.

#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "taper/backend_device.h"

namespace taper::tools {

// One step, with its time in each execution.
struct ProfiledTimes {
  std::string op, kernel, sizes;
  std::vector<double> seconds;

  double median() const;  // REQUIRES: there is one.
};

class Profile final : public Profiler {
 public:
  void add(const ProfiledStep& step) override;

  // In the order in which they first ran.
  std::vector<ProfiledTimes> steps() const { return steps_; }

 private:
  std::map<std::pair<const void*, uint32_t>, size_t> places_;  // In steps_.
  std::vector<ProfiledTimes> steps_;
};

}  // namespace taper::tools
