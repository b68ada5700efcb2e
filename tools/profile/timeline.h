// Recorded runs as a timeline: slices on tracks, and counters. What is written for a viewer
// (chrome_trace.h, perfetto_trace.h) is made of it.

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/memory/memory_map.h"
#include "tools/profile/profile.h"

namespace taper::tools {

// Times are in seconds since the recorder was made.
struct Slice {
  size_t track = 0;
  std::string_view name;
  double begin = 0, end = 0;
  // What the viewer shows of it, by name.
  std::vector<std::pair<std::string_view, std::string>> details;
};

struct CounterTrack {
  std::string_view name;
  std::vector<std::pair<double, double>> values;  // From each time on.
};

struct Timeline {
  std::vector<std::string> tracks;
  std::vector<Slice> slices;  // Those of one track nest, or lie side by side.
  std::vector<CounterTrack> counters;
};

// Instructions are on one track, the steps of backends on a second, and each further thread that
// kernels used has its own. `profile` is of the recorder, and `memory` of the method; both must
// outlive the result.
Timeline timeline_of(const Recorder& recorder, const ProfileResult& profile,
                     const MethodMemory& memory);

}  // namespace taper::tools
