// A graph on a GPU: its constants and its arena in memory of the GPU, and one command buffer, which
// is recorded when it is loaded and again when the sizes of inputs change.

#pragma once

#include "backends/vulkan/planner/plan.h"
#include "backends/vulkan/runtime/executable.h"
#include "backends/vulkan/runtime/gpu/device.h"
#include "backends/vulkan/runtime/gpu/pipelines.h"

namespace taper::vulkan {

// Threads: one at a time.
class GpuMethod final : public Executable {
 public:
  GpuMethod(const GpuDevice& device, Pipelines& pipelines)
      : device_(device), pipelines_(pipelines) {}
  ~GpuMethod() override;

  // What the payload's graph refers to must outlive this.
  Status load(Span<const uint8_t> payload, const ConstantSource& source);

  // Whether an input may be of int64. An element that does not fit into 32 bits makes execute()
  // return kNotSupported.
  bool may_have_wide_inputs() const;

  // Returns kInvalidArgument where an argument is not what the payload says, or where an index that
  // a shader read is out of range; kOutOfResources if the GPU was lost.
  Status execute(BackendExecutionContext& context, Span<EValue* const> args) override;
  Status reset() override;

  // Whether it keeps anything from one execution to the next.
  bool has_states() const { return plan_.state_bytes() != 0; }

 private:
  Status allocate();
  // Constants, or what states hold at first.
  Status upload(Place::Memory memory);
  // The dispatches that run once, or all others with the copies around them.
  Status record(bool once);
  Status record_dispatches(bool once);
  void record_dispatch(const Dispatch& dispatch, VkDescriptorSet set, VkPipeline pipeline) const;
  void write_set(const Dispatch& dispatch, VkDescriptorSet set) const;
  void record_copies(bool to_gpu) const;
  void barrier(VkPipelineStageFlags from, VkAccessFlags written, VkPipelineStageFlags to,
               VkAccessFlags read) const;
  VkDescriptorBufferInfo range_of(ValueId value) const;

  Status write_input(const EValue& arg, const PayloadValue& input, uint64_t offset) const;
  Status read_output(EValue& arg, ValueId output, uint64_t offset) const;

  const GpuDevice& device_;
  Pipelines& pipelines_;
  PayloadGraph graph_;
  Plan plan_;
  Buffer constants_, states_, arena_, upload_, read_back_;
  std::vector<uint64_t> input_offsets_, output_offsets_;  // In upload_ and read_back_.
  VkCommandPool command_pool_ = VK_NULL_HANDLE;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  VkDescriptorPool sets_pool_ = VK_NULL_HANDLE;
  std::vector<VkDescriptorSet> sets_;  // One for each dispatch.
  VkFence fence_ = VK_NULL_HANDLE;
  bool is_stale_ = false;  // The commands are not for the current sizes of the inputs.
};

}  // namespace taper::vulkan
