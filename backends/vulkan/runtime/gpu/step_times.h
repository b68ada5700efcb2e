// How long each dispatch of a command buffer takes, by timestamps of the GPU. With it, dispatches
// run one after another.

#pragma once

#include <string>
#include <vector>

#include "backends/vulkan/runtime/gpu/device.h"
#include "taper/backend_device.h"

namespace taper::vulkan {

// Threads: one at a time.
class StepTimes {
 public:
  explicit StepTimes(const GpuDevice& device) : device_(device) {}
  StepTimes(const StepTimes&) = delete;
  StepTimes& operator=(const StepTimes&) = delete;
  ~StepTimes();

  // Whether the queue of the device has timestamps.
  static bool can(const GpuDevice& device) { return device.timestamp_bits() != 0; }

  // Forgets all steps and makes room for `count`. The commands of the last ones must be complete.
  Status open(size_t count);
  // Records the start, before the first step.
  void begin(VkCommandBuffer commands) const;
  // Records the end of the next step.
  void end_step(VkCommandBuffer commands, const Dispatch& dispatch, const PayloadGraph& graph);

  // Tells the times of the last execution, which must be complete.
  Status report(Profiler& profiler, const void* delegate);

 private:
  struct Step {
    std::string_view op, kernel;
    std::string sizes;
    int64_t node;  // Negative: not known.
    uint32_t call;
    double operations, bytes;  // As in ProfiledStep; the first of the whole call.
  };

  const GpuDevice& device_;
  VkQueryPool queries_ = VK_NULL_HANDLE;
  std::vector<Step> steps_;
  std::vector<uint64_t> ticks_;
};

}  // namespace taper::vulkan
