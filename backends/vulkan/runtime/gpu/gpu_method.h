// A graph on a GPU: its constants and its arena in memory of the GPU, and command buffers: one for
// the sizes that inputs had when it was loaded, and for other sizes when they are first seen.
// Constants that another method has are read where that one has them.
//
// Where the host sees all memory of the GPU, inputs are written where the first shader reads them;
// where it also reads it fast, outputs are read where the last one wrote them. Else copies stand
// in the command buffer.

#pragma once

#include "backends/vulkan/planner/plan.h"
#include "backends/vulkan/runtime/executable.h"
#include "backends/vulkan/runtime/gpu/device.h"
#include "backends/vulkan/runtime/gpu/pipelines.h"
#include "backends/vulkan/runtime/gpu/shared_constants.h"
#include "backends/vulkan/runtime/gpu/step_times.h"

namespace taper::vulkan {

// Threads: one at a time.
class GpuMethod final : public Executable {
 public:
  // `profiler` may be null.
  GpuMethod(const GpuDevice& device, Pipelines& pipelines, SharedConstants& shared,
            Profiler* profiler)
      : device_(device), pipelines_(pipelines), shared_(shared), profiler_(profiler) {}
  ~GpuMethod() override;

  // What the payload's graph refers to must outlive this.
  // Pipelines are made on the threads of the pool.
  Status load(Span<const uint8_t> payload, const ConstantSource& source, const ThreadPool& pool,
              bool in_half);

  // Whether an input may be of int64 or float64. An element that does not fit into 32 bits makes
  // execute() return kNotSupported.
  bool may_have_wide_inputs() const;

  // Returns kInvalidArgument where an argument is not what the payload says, or where an index that
  // a shader read is out of range; kOutOfResources if the GPU was lost.
  Status execute(BackendExecutionContext& context, Span<EValue* const> args) override;
  Status reset() override;
  void tell_memory(MemoryListener& listener) const override;

  // Whether it keeps anything from one execution to the next.
  bool has_states() const override { return plan_.state_bytes() != 0; }

 private:
  // What an output is, besides its elements.
  struct OutputForm {
    Dims dims;
    int64_t number;
  };

  // Commands for certain sizes of the inputs.
  struct Recording {
    VkCommandBuffer commands = VK_NULL_HANDLE;
    VkDescriptorPool pool = VK_NULL_HANDLE;
    std::vector<int64_t> key;  // See take_key().
    std::vector<OutputForm> outputs;
    std::unique_ptr<StepTimes> times;  // Null: nobody asks.
    WaitTime wait;
    uint64_t last_use = 0;  // 0: it has no commands.
  };
  struct Location {
    const Buffer* buffer;
    uint64_t offset;
  };
  struct ConstantCopy {
    const Buffer* to;
    VkBufferCopy copy;
  };
  static constexpr size_t kMostRecordings = 4;  // The one that was used last makes room.

  // An input or an output: where the host has it, and where it is to be copied, if it is.
  struct Port {
    uint32_t* words = nullptr;
    uint64_t offset = 0;  // In upload_ or read_back_.
    bool is_copied = false;
  };

  void find_homes();
  Status allocate_memory();
  Status allocate_commands();
  uint64_t make_ports(const std::vector<ValueId>& ids, bool in_place, uint64_t bytes,
                      std::vector<Port>& ports) const;
  void map_ports(const std::vector<ValueId>& ids, const Buffer& copies,
                 std::vector<Port>& ports) const;
  // Constants that no other method has, or what states hold at first.
  Status write_constants(bool states);
  Status flush_constants(std::vector<ConstantCopy>& copies);

  void take_key();
  // Finds or makes the commands for the current sizes.
  Status take_recording();
  Recording& oldest();
  // The dispatches that run once, or all others with the copies around them.
  Status record(Recording& recording, bool once);
  Status record_all(Recording& recording, bool once);
  Status record_dispatches(Recording& recording, bool once);
  Status make_sets(Recording& recording, size_t count, std::vector<VkDescriptorSet>& sets) const;
  void record_dispatch(VkCommandBuffer commands, const Dispatch& dispatch, VkDescriptorSet set,
                       VkPipeline pipeline) const;
  void write_set(const Dispatch& dispatch, VkDescriptorSet set) const;
  void record_copies(VkCommandBuffer commands, bool to_gpu) const;
  void barrier(VkCommandBuffer commands, VkPipelineStageFlags from, VkAccessFlags written,
               VkPipelineStageFlags to, VkAccessFlags read) const;
  Location location_of(ValueId value) const;
  VkDescriptorBufferInfo range_of(ValueId value) const;

  Status write_input(const EValue& arg, const PayloadValue& input, const Port& port) const;
  Status read_output(EValue& arg, ValueId output, const OutputForm& form, const Port& port) const;

  const GpuDevice& device_;
  Pipelines& pipelines_;
  SharedConstants& shared_;
  Profiler* const profiler_;
  PayloadGraph graph_;
  Plan plan_;
  Buffer states_, arena_, upload_, read_back_;
  const std::shared_ptr<Buffer> constants_ = std::make_shared<Buffer>();  // Its own.
  uint64_t constant_bytes_ = 0;
  // Where each tensor of Memory::kConstants is, by the value that is its root.
  std::vector<std::shared_ptr<const ConstantHome>> homes_;
  SharedConstants::Homes own_;  // Those that others may read from here on.
  Buffer loading_;              // Constants that others are made of, while it is loaded.
  std::vector<Port> inputs_, outputs_;
  VkCommandPool command_pool_ = VK_NULL_HANDLE;
  Recording recordings_[kMostRecordings];
  Recording* current_ = nullptr;
  std::vector<int64_t> key_;  // Of the current inputs.
  uint64_t uses_ = 0;
  VkFence fence_ = VK_NULL_HANDLE;
  bool is_stale_ = false;  // The current commands are not for the current sizes of the inputs.
};

}  // namespace taper::vulkan
