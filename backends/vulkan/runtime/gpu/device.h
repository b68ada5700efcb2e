// A Vulkan device: opened once, used by all methods of a backend.
//
// The Vulkan loader is opened when the first device is asked for, so that a program with this
// backend starts where there is no Vulkan.

#pragma once

#include <volk.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string_view>

#include "backends/vulkan/planner/plan.h"
#include "backends/vulkan/runtime/gpu/wait_time.h"
#include "taper/status.h"

namespace taper::vulkan {

// Which device is taken.
struct DeviceChoice {
  // A part of its name, or empty: then it is the first discrete, integrated or virtual GPU, in this
  // order, and never a driver that computes on the processor.
  std::string_view name;
  // Whether the driver makes accesses outside a tensor harmless. Validation layers report them only
  // without.
  bool is_robust = true;
  uint32_t poll_us = 0;  // See VulkanOptions.
};

// Memory with one buffer over all of it.
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { free(); }
  void free();

  VkBuffer handle() const { return buffer_; }
  uint64_t bytes() const { return bytes_; }
  uint8_t* mapped() const { return static_cast<uint8_t*>(mapped_); }  // Null: not mapped.
  bool is_cached() const { return is_cached_; }  // Whether the host reads it fast.

 private:
  friend class GpuDevice;
  const class GpuDevice* device_ = nullptr;
  VkBuffer buffer_ = VK_NULL_HANDLE;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
  void* mapped_ = nullptr;
  bool is_cached_ = false;
  uint64_t bytes_ = 0;
};

// Who accesses a buffer: mostly the GPU, or the host as well to write or to read. The first kind is
// mapped too where the host sees all memory of the GPU, as with unified memory.
enum class Use : uint8_t { kGpu, kUpload, kReadBack };

// Threads: all functions may be called from several threads at once.
class GpuDevice {
 public:
  // kNotFound if there is no Vulkan or no device that fits.
  static Result<std::unique_ptr<GpuDevice>> open(const DeviceChoice& choice);
  ~GpuDevice();

  const VolkDeviceTable& vk() const { return vk_; }
  VkDevice handle() const { return device_; }
  const char* name() const { return properties_.deviceName; }
  const VkPhysicalDeviceProperties& properties() const { return properties_; }
  uint32_t queue_family() const { return queue_family_; }
  const Limits& limits() const { return limits_; }
  uint32_t timestamp_bits() const { return timestamp_bits_; }  // 0: the queue has no timestamps.

  // `buffer` is an empty one. At least one byte is allocated.
  Status allocate(uint64_t bytes, Use use, Buffer& buffer) const;
  // Submits and waits until it is done or time is up; the device is then given up. `time` is
  // that of this command buffer.
  Status run(VkCommandBuffer commands, VkFence fence, WaitTime& time) const;

  // What the result of a call of Vulkan means: kDelegateMemoryAllocationFailed with `text` where
  // memory is short, so that the kernels may compute instead; kOutOfResources for a lost device,
  // which is noted; else kDelegateInvalidCompatibility with `text`.
  Status check(VkResult result, const char* text) const;
  bool is_lost() const { return is_lost_; }
  // Whether the GPU may still be at work that nobody waits for: then nothing is destroyed.
  bool is_stuck() const { return is_stuck_; }

 private:
  friend class Buffer;
  GpuDevice() = default;
  Status choose(const DeviceChoice& choice);
  Status make_device(bool is_robust);
  void read_limits();
  VkResult wait(VkFence fence, const WaitTime& time, bool& overslept) const;
  VkResult poll(VkFence fence, const WaitTime& time, bool& overslept) const;
  int memory_type(uint32_t allowed, Use use) const;

  VkInstance instance_ = VK_NULL_HANDLE;
  VkPhysicalDevice physical_ = VK_NULL_HANDLE;
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  uint32_t queue_family_ = 0, timestamp_bits_ = 0, poll_us_ = 0;
  VkPhysicalDeviceProperties properties_ = {};
  VkPhysicalDeviceMemoryProperties memory_ = {};
  VolkDeviceTable vk_ = {};
  Limits limits_;
  mutable std::mutex queue_mutex_;
  mutable Lateness lateness_;  // Guarded by the mutex.
  mutable std::atomic<bool> is_lost_{false}, is_stuck_{false};
};

}  // namespace taper::vulkan
