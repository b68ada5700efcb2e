// Records what runs during executions: each instruction, within the calls of backends the steps
// that these tell of, and what the threads of kernels do.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "taper/backend_device.h"
#include "taper/event_tracer.h"
#include "taper/trace_clock.h"
#include "tools/profile/traced_threads.h"

namespace taper::tools {

// Something that ran. Times are in seconds since the recorder was made.
struct RecordedEvent {
  static constexpr uint32_t kWhole = UINT32_MAX;

  uint32_t chain = 0, instruction = 0;
  uint32_t step = kWhole;  // Of a backend's call, from 0 on; kWhole is the instruction itself.
  double begin = 0, end = 0;
  uint64_t temp_bytes = 0;  // The scratch memory that a kernel took.

  double seconds() const { return end - begin; }
};

// What a step of a backend is.
struct StepName {
  std::string op, kernel, sizes;
  int64_t node = -1;  // Of the delegate's nodes; negative if it is not known.
};

// What happened before executions, such as loading.
struct RecordedPhase {
  std::string name;
  double begin = 0, end = 0;
};

// A part of an instruction that one thread computed; 0 is the thread that executes.
struct RecordedTask {
  uint32_t thread = 0;
  uint32_t chain = 0, instruction = 0;
  double begin = 0, end = 0;
};

class Recorder final : public EventTracer, public Profiler, public TaskListener {
 public:
  using Place = std::pair<uint32_t, uint32_t>;  // Chain and instruction.

  // EventTracer, Profiler, TaskListener.
  void begin(uint32_t chain, uint32_t instruction) override;
  void used_temp(size_t bytes) override;
  void end() override;
  void add(const ProfiledStep& step) override;
  uint64_t now() override { return clock_.now(); }
  void add(Span<const TaskTime> tasks) override;

  // Threads for kernels that tell the recorder what they do.
  ThreadPool traced(const ThreadPool& threads) { return threads_.pool_on(threads); }

  // A phase begins, and the one before it ends; an empty name only ends one.
  void enter(std::string_view phase);
  const std::vector<RecordedPhase>& phases() const { return phases_; }

  // What follows is of the next run.
  void start_run();
  // Events in the order in which they began, of each run.
  const std::vector<std::vector<RecordedEvent>>& runs() const { return runs_; }
  const std::vector<StepName>& steps_of(Place place) const;
  // Of all runs; only instructions that were divided among threads have any.
  const std::vector<RecordedTask>& tasks() const { return tasks_; }
  // Whether a run had too many events to keep all.
  bool is_cut() const { return is_cut_; }

 private:
  static constexpr size_t kMostEvents = 1'000'000;  // Of all runs.

  double seconds_at(uint64_t ticks) const { return clock_.seconds(ticks - start_); }
  double seconds() const { return seconds_at(clock_.now()); }
  void close(double time);
  bool has_room();
  uint32_t track_of(uint32_t thread);

  TracedThreads threads_{*this};
  TraceClock clock_;
  uint64_t start_ = clock_.now();
  std::vector<RecordedPhase> phases_;
  bool in_phase_ = false;
  std::vector<std::vector<RecordedEvent>> runs_;
  std::map<Place, std::vector<StepName>> steps_;
  std::vector<RecordedTask> tasks_;
  std::map<uint32_t, uint32_t> tracks_;  // By number of thread.
  size_t count_ = 0;
  size_t current_ = SIZE_MAX;  // The instruction that runs, in the last run.
  double step_end_ = 0;        // Of the last step, where steps do not say when they began.
  bool is_cut_ = false;
};

}  // namespace taper::tools
