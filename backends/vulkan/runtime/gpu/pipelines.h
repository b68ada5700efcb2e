// Compute pipelines, made when they are first needed and shared by all methods of a device: one for
// each shader with its specialisation constants. All have the same layout, six storage buffers and
// 128 bytes of push constants.
//
// What drivers compile is kept in a file beside the model, if the application names one.

#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "backends/vulkan/runtime/gpu/device.h"
#include "backends/vulkan/runtime/pipeline_file.h"
#include "taper/backend_device.h"
#include "taper/file_data_loader.h"

namespace taper::vulkan {

// As planner/shaders.def has it.
std::string_view name_of(Shader shader);

// Threads: any.
class Pipelines {
 public:
  // If `path` is null, no file is read or written. It must outlive this.
  Pipelines(const GpuDevice& device, const char* path) : device_(device), path_(path) {}
  ~Pipelines();
  Status open();

  VkPipelineLayout layout() const { return layout_; }
  VkDescriptorSetLayout set_layout() const { return set_layout_; }

  // Makes all pipelines that are not there yet, on the threads of the pool.
  Status prepare(const std::vector<Dispatch>& dispatches, const ThreadPool& pool);
  // The pipeline for a dispatch, which is made if it is not there yet.
  Result<VkPipeline> find(const Dispatch& dispatch);

  // Writes the file if it lacks pipelines that have been made.
  Status save();
  PackedReport report();

 private:
  using Key = std::vector<uint32_t>;  // The shader, then its constants.
  struct Module {
    VkShaderModule handle = VK_NULL_HANDLE;
    uint64_t hash = 0;  // Of its code.
  };
  static Key key_of(const Dispatch& dispatch);
  Status make_layout();
  // The views are of `loader`.
  PipelineFile read_file(std::optional<MmapDataLoader>& loader);
  Result<Module> module(Shader shader);
  Status make(const std::vector<const Dispatch*>& dispatches, const ThreadPool& pool);
  VkResult compile(const Dispatch& dispatch, VkShaderModule code, VkPipeline& made) const;
  void note(const Key& key, uint64_t shader);

  const GpuDevice& device_;
  const char* const path_;
  std::mutex mutex_;
  VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkPipelineCache cache_ = VK_NULL_HANDLE;
  std::map<Shader, Module> modules_;
  std::map<Key, VkPipeline> pipelines_;
  PipelineOrigin origin_ = {};
  std::vector<uint64_t> known_;  // Hashes of pipelines that the file has, or will have.
  size_t saved_ = 0;             // How many of them the file has.
  PackedReport report_;
};

}  // namespace taper::vulkan
