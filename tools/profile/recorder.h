// Records what runs during executions: each instruction, and within the calls of backends the steps
// that these tell of.

#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "taper/backend_device.h"
#include "taper/event_tracer.h"

namespace taper::tools {

// Something that ran. Times are in seconds since the recorder was made.
struct RecordedEvent {
  static constexpr uint32_t kWhole = UINT32_MAX;

  uint32_t chain = 0, instruction = 0;
  uint32_t step = kWhole;  // Of a backend's call, from 0 on; kWhole is the instruction itself.
  double begin = 0, end = 0;

  double seconds() const { return end - begin; }
};

// What a step of a backend is.
struct StepName {
  std::string op, kernel, sizes;
  int64_t node = -1;  // Of the delegate's nodes; negative if it is not known.
};

class Recorder final : public EventTracer, public Profiler {
 public:
  using Place = std::pair<uint32_t, uint32_t>;  // Chain and instruction.

  // EventTracer, Profiler.
  void begin(uint32_t chain, uint32_t instruction) override;
  void end() override;
  void add(const ProfiledStep& step) override;

  // What follows is of the next run.
  void start_run() { runs_.emplace_back(); }
  // Events in the order in which they began, of each run.
  const std::vector<std::vector<RecordedEvent>>& runs() const { return runs_; }
  const std::vector<StepName>& steps_of(Place place) const;
  // Whether a run had too many events to keep all.
  bool is_cut() const { return is_cut_; }

 private:
  static constexpr size_t kMostEvents = 1'000'000;  // Of all runs.

  double now() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  bool has_room();

  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::vector<std::vector<RecordedEvent>> runs_;
  std::map<Place, std::vector<StepName>> steps_;
  size_t count_ = 0;
  size_t current_ = SIZE_MAX;  // The instruction that runs, in the last run.
  double step_end_ = 0;        // Of the last step, where steps do not say when they began.
  bool is_cut_ = false;
};

}  // namespace taper::tools
