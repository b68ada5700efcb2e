// Compute pipelines, made when they are first needed and shared by all methods of a device: one for
// each shader with its specialisation constants. All have the same layout, six storage buffers and
// 128 bytes of push constants.

#pragma once

#include <map>
#include <mutex>
#include <vector>

#include "backends/vulkan/runtime/gpu/device.h"

namespace taper::vulkan {

// Threads: any.
class Pipelines {
 public:
  explicit Pipelines(const GpuDevice& device) : device_(device) {}
  ~Pipelines();
  Status open();

  VkPipelineLayout layout() const { return layout_; }
  VkDescriptorSetLayout set_layout() const { return set_layout_; }

  // Makes all pipelines that are not there yet in one call, which lets drivers compile them in
  // parallel.
  Status prepare(const std::vector<Dispatch>& dispatches);
  // The pipeline for a dispatch, which is made if it is not there yet.
  Result<VkPipeline> find(const Dispatch& dispatch);

 private:
  using Key = std::vector<uint32_t>;  // The shader, then its constants.
  static Key key_of(const Dispatch& dispatch);
  Result<VkShaderModule> module(Shader shader);
  Status make(const std::vector<const Dispatch*>& dispatches);

  const GpuDevice& device_;
  std::mutex mutex_;
  VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkPipelineCache cache_ = VK_NULL_HANDLE;
  std::map<Shader, VkShaderModule> modules_;
  std::map<Key, VkPipeline> pipelines_;
};

}  // namespace taper::vulkan
