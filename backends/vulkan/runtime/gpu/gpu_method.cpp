#include "backends/vulkan/runtime/gpu/gpu_method.h"

#include <algorithm>
#include <cstring>

#include "backends/vulkan/planner/fuse.h"
#include "backends/vulkan/runtime/arguments.h"
#include "backends/vulkan/runtime/element_words.h"

namespace taper::vulkan {
namespace {

constexpr uint64_t kUploadBytes = uint64_t{8} << 20;  // At a time, of constants.
constexpr uint64_t kFaultBytes = 256;                 // The first word of read_back_ is the fault.
constexpr uint32_t kSpareSets = 2;  // Other sizes may need more dispatches, this many times.

#define TAPER_VK(call, text) \
  TAPER_REQUIRE((call) == VK_SUCCESS, Error::kDelegateMemoryAllocationFailed, text)

uint64_t padded(uint64_t bytes) { return (bytes + 255) / 256 * 256; }

uint64_t word_bytes(const Dims& dims) { return static_cast<uint64_t>(dims.numel()) * 4; }

uint32_t* words_at(const Buffer& buffer, uint64_t offset) {
  return reinterpret_cast<uint32_t*>(buffer.mapped() + offset);
}

}  // namespace

GpuMethod::~GpuMethod() {
  const VolkDeviceTable& vk = device_.vk();
  vk.vkDestroyFence(device_.handle(), fence_, nullptr);
  vk.vkDestroyDescriptorPool(device_.handle(), sets_pool_, nullptr);
  vk.vkDestroyCommandPool(device_.handle(), command_pool_, nullptr);
}

Status GpuMethod::load(Span<const uint8_t> payload, const ConstantSource& source) {
  TAPER_TRY(graph_.read(payload, &source));
  fuse(graph_);
  TAPER_TRY(plan_.build(graph_, device_.limits()));
  for (const PayloadValue& value : graph_.values) {
    TAPER_REQUIRE(value.kind != Kind::kTensor || has_words(value.dtype),
                  Error::kDelegateInvalidCompatibility,
                  "the payload has a dtype that the GPU does not compute with");
  }
  TAPER_TRY(allocate());
  TAPER_TRY(upload(Place::Memory::kConstants));
  TAPER_TRY(upload(Place::Memory::kStates));
  TAPER_TRY(pipelines_.prepare(plan_.dispatches()));
  const std::vector<Dispatch>& dispatches = plan_.dispatches();
  if (std::any_of(dispatches.begin(), dispatches.end(), [](const Dispatch& d) { return d.once; })) {
    TAPER_TRY(record(true));
    TAPER_TRY(device_.run(commands_, fence_));
  }
  return record(false);
}

Status GpuMethod::allocate() {
  uint64_t bytes = 0;
  for (const ValueId id : graph_.inputs) {
    input_offsets_.push_back(bytes);
    bytes += padded(word_bytes(graph_.values[id].limits));
  }
  const uint64_t stored = std::max(plan_.constant_bytes(), plan_.state_bytes());
  TAPER_TRY(
      device_.allocate(std::max(bytes, std::min(stored, kUploadBytes)), Use::kUpload, upload_));
  bytes = kFaultBytes;
  for (const ValueId id : graph_.outputs) {
    output_offsets_.push_back(bytes);
    bytes += padded(word_bytes(graph_.values[id].limits));
  }
  TAPER_TRY(device_.allocate(bytes, Use::kReadBack, read_back_));
  TAPER_TRY(device_.allocate(plan_.arena_bytes(), Use::kGpu, arena_));
  TAPER_TRY(device_.allocate(plan_.constant_bytes(), Use::kGpu, constants_));
  TAPER_TRY(device_.allocate(plan_.state_bytes(), Use::kGpu, states_));

  const VolkDeviceTable& vk = device_.vk();
  VkCommandPoolCreateInfo pool = {};
  pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  pool.queueFamilyIndex = device_.queue_family();
  TAPER_VK(vk.vkCreateCommandPool(device_.handle(), &pool, nullptr, &command_pool_),
           "there is no memory for commands");
  VkCommandBufferAllocateInfo commands = {};
  commands.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  commands.commandPool = command_pool_;
  commands.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  commands.commandBufferCount = 1;
  TAPER_VK(vk.vkAllocateCommandBuffers(device_.handle(), &commands, &commands_),
           "there is no memory for commands");
  VkFenceCreateInfo fence = {};
  fence.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
  TAPER_VK(vk.vkCreateFence(device_.handle(), &fence, nullptr, &fence_),
           "there is no memory for a fence");

  const auto sets = static_cast<uint32_t>(plan_.dispatches().size()) * kSpareSets;
  if (sets == 0) return {};
  const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                     sets * static_cast<uint32_t>(Dispatch::kMaxBindings)};
  VkDescriptorPoolCreateInfo sets_pool = {};
  sets_pool.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
  sets_pool.maxSets = sets;
  sets_pool.poolSizeCount = 1;
  sets_pool.pPoolSizes = &size;
  TAPER_VK(vk.vkCreateDescriptorPool(device_.handle(), &sets_pool, nullptr, &sets_pool_),
           "there is no memory for descriptors");
  const std::vector<VkDescriptorSetLayout> layouts(sets, pipelines_.set_layout());
  sets_.resize(sets);
  VkDescriptorSetAllocateInfo allocation = {};
  allocation.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
  allocation.descriptorPool = sets_pool_;
  allocation.descriptorSetCount = sets;
  allocation.pSetLayouts = layouts.data();
  TAPER_VK(vk.vkAllocateDescriptorSets(device_.handle(), &allocation, sets_.data()),
           "there is no memory for descriptors");
  return {};
}

Status GpuMethod::upload(Place::Memory memory) {
  const Buffer& buffer = memory == Place::Memory::kStates ? states_ : constants_;
  const VolkDeviceTable& vk = device_.vk();
  uint64_t used = 0;
  std::vector<VkBufferCopy> copies;
  const auto flush = [&]() -> Status {
    if (copies.empty()) return {};
    VkCommandBufferBeginInfo begin = {};
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    TAPER_VK(vk.vkBeginCommandBuffer(commands_, &begin), "there is no memory for commands");
    vk.vkCmdCopyBuffer(commands_, upload_.handle(), buffer.handle(),
                       static_cast<uint32_t>(copies.size()), copies.data());
    TAPER_VK(vk.vkEndCommandBuffer(commands_), "there is no memory for commands");
    copies.clear();
    used = 0;
    return device_.run(commands_, fence_);
  };
  for (ValueId id = 0; id < graph_.values.size(); ++id) {
    const Place& place = plan_.places()[id];
    const PayloadValue& value = graph_.values[id];
    if (!value.is_constant || place.memory != memory || place.first > place.last) continue;
    const size_t element = place.has_bytes ? 4 : element_size(value.dtype);
    const size_t count = place.has_bytes ? static_cast<size_t>(place.bytes / 4)
                                         : static_cast<size_t>(value.dims.numel());
    for (size_t done = 0; done < count;) {
      if (used == upload_.bytes()) TAPER_TRY(flush());
      const size_t part =
          std::min<size_t>(count - done, static_cast<size_t>((upload_.bytes() - used) / 4));
      if (place.has_bytes) {
        const size_t left = value.data.size() - std::min(value.data.size(), done * 4);
        std::memcpy(words_at(upload_, used), value.data.data() + done * 4,
                    std::min(left, part * 4));
      } else {
        TAPER_TRY(to_words(value.dtype, value.data.data() + done * element, part,
                           words_at(upload_, used)));
      }
      copies.push_back({used, place.offset + done * 4, part * 4});
      used += part * 4;
      done += part;
    }
  }
  return flush();
}

VkDescriptorBufferInfo GpuMethod::range_of(ValueId value) const {
  if (value == kFaultValue) return {read_back_.handle(), 0, 4};
  const Place& root = plan_.places()[plan_.places()[value].root];
  const Buffer& buffer = root.memory == Place::Memory::kConstants ? constants_
                         : root.memory == Place::Memory::kStates  ? states_
                                                                  : arena_;
  return {buffer.handle(), root.offset, root.bytes};
}

void GpuMethod::write_set(const Dispatch& dispatch, VkDescriptorSet set) const {
  VkDescriptorBufferInfo ranges[Dispatch::kMaxBindings];
  VkWriteDescriptorSet writes[Dispatch::kMaxBindings] = {};
  for (uint32_t i = 0; i < dispatch.num_bindings; ++i) {
    ranges[i] = range_of(dispatch.bindings[i].value);
    writes[i].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
    writes[i].dstSet = set;
    writes[i].dstBinding = i;
    writes[i].descriptorCount = 1;
    writes[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    writes[i].pBufferInfo = &ranges[i];
  }
  device_.vk().vkUpdateDescriptorSets(device_.handle(), dispatch.num_bindings, writes, 0, nullptr);
}

void GpuMethod::barrier(VkPipelineStageFlags from, VkAccessFlags written, VkPipelineStageFlags to,
                        VkAccessFlags read) const {
  VkMemoryBarrier memory = {};
  memory.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  memory.srcAccessMask = written;
  memory.dstAccessMask = read;
  device_.vk().vkCmdPipelineBarrier(commands_, from, to, 0, 1, &memory, 0, nullptr, 0, nullptr);
}

void GpuMethod::record_copies(bool to_gpu) const {
  const std::vector<ValueId>& ids = to_gpu ? graph_.inputs : graph_.outputs;
  for (size_t i = 0; i < ids.size(); ++i) {
    const PayloadValue& value = graph_.values[ids[i]];
    const uint64_t bytes = value.kind == Kind::kTensor ? word_bytes(value.dims) : 0;
    if (bytes == 0) continue;
    const VkDescriptorBufferInfo place = range_of(ids[i]);
    const uint64_t offset = to_gpu ? input_offsets_[i] : output_offsets_[i];
    const VkBufferCopy copy = {to_gpu ? offset : place.offset, to_gpu ? place.offset : offset,
                               bytes};
    device_.vk().vkCmdCopyBuffer(commands_, to_gpu ? upload_.handle() : place.buffer,
                                 to_gpu ? place.buffer : read_back_.handle(), 1, &copy);
  }
}

void GpuMethod::record_dispatch(const Dispatch& dispatch, VkDescriptorSet set,
                                VkPipeline pipeline) const {
  const VolkDeviceTable& vk = device_.vk();
  constexpr VkPipelineStageFlags kCompute = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
  if (dispatch.barrier) {
    barrier(kCompute, VK_ACCESS_SHADER_WRITE_BIT, kCompute,
            VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
  }
  vk.vkCmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
  vk.vkCmdBindDescriptorSets(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, pipelines_.layout(), 0, 1,
                             &set, 0, nullptr);
  if (dispatch.push_bytes != 0) {
    vk.vkCmdPushConstants(commands_, pipelines_.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                          dispatch.push_bytes, dispatch.push);
  }
  vk.vkCmdDispatch(commands_, dispatch.groups[0], dispatch.groups[1], dispatch.groups[2]);
}

Status GpuMethod::record_dispatches(bool once) {
  const std::vector<Dispatch>& dispatches = plan_.dispatches();
  TAPER_REQUIRE(dispatches.size() <= sets_.size(), Error::kDelegateMemoryAllocationFailed,
                "there are not enough descriptors for these sizes");
  for (size_t i = 0; i < dispatches.size(); ++i) {
    const Dispatch& dispatch = dispatches[i];
    const bool is_empty =
        dispatch.groups[0] == 0 || dispatch.groups[1] == 0 || dispatch.groups[2] == 0;
    if (is_empty || dispatch.once != once) continue;
    const Result<VkPipeline> pipeline = pipelines_.find(dispatch);
    TAPER_TRY(pipeline.status());
    write_set(dispatch, sets_[i]);
    record_dispatch(dispatch, sets_[i], *pipeline);
  }
  return {};
}

Status GpuMethod::record(bool once) {
  const VolkDeviceTable& vk = device_.vk();
  VkCommandBufferBeginInfo begin = {};
  begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  TAPER_VK(vk.vkBeginCommandBuffer(commands_, &begin), "there is no memory for commands");
  constexpr VkPipelineStageFlags kCompute = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
  constexpr VkPipelineStageFlags kCopy = VK_PIPELINE_STAGE_TRANSFER_BIT;
  if (!once) record_copies(true);
  barrier(kCopy, VK_ACCESS_TRANSFER_WRITE_BIT, kCompute | kCopy,
          VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_READ_BIT);
  TAPER_TRY(record_dispatches(once));
  barrier(kCompute, VK_ACCESS_SHADER_WRITE_BIT, kCopy | VK_PIPELINE_STAGE_HOST_BIT,
          VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_HOST_READ_BIT);
  if (!once) record_copies(false);
  barrier(kCopy, VK_ACCESS_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
  TAPER_VK(vk.vkEndCommandBuffer(commands_), "there is no memory for commands");
  return {};
}

Status GpuMethod::write_input(const EValue& arg, const PayloadValue& input, uint64_t offset) const {
  if (input.kind != Kind::kTensor) return {};
  const auto count = static_cast<size_t>(input.dims.numel());
  const Tensor& tensor = arg.to_tensor();
  return to_words(tensor.scalar_type(), tensor.const_data(), count, words_at(upload_, offset));
}

Status GpuMethod::read_output(EValue& arg, ValueId output, uint64_t offset) const {
  const PayloadValue& value = graph_.values[output];
  if (value.kind != Kind::kTensor) return set_number(arg, value.integer);
  TAPER_TRY(resize_output(arg, value.dtype, value.dims));
  const Tensor& tensor = arg.to_tensor();
  from_words(tensor.scalar_type(), words_at(read_back_, offset),
             static_cast<size_t>(tensor.numel()), tensor.mutable_data());
  return {};
}

Status GpuMethod::reset() {
  is_stale_ = true;  // What is recorded to upload takes the place of what is recorded to execute.
  return upload(Place::Memory::kStates);
}

bool GpuMethod::may_have_wide_inputs() const {
  for (const ValueId id : graph_.inputs) {
    const PayloadValue& value = graph_.values[id];
    const bool is_index = value.dtype == ScalarType::kLong || value.dtype == ScalarType::kInt;
    if (value.kind == Kind::kTensor && is_index) return true;
  }
  return false;
}

Status GpuMethod::execute(BackendExecutionContext&, Span<EValue* const> args) {
  TAPER_REQUIRE(args.size() == graph_.inputs.size() + graph_.outputs.size(),
                Error::kInvalidArgument, "the payload has another number of arguments");
  for (size_t i = 0; i < graph_.inputs.size(); ++i) {
    TAPER_TRY(take_sizes(*args[i], graph_.values[graph_.inputs[i]], is_stale_));
  }
  if (is_stale_) {
    TAPER_TRY(plan_.build(graph_, device_.limits()));
    TAPER_TRY(record(false));
    is_stale_ = false;
  }
  for (size_t i = 0; i < graph_.inputs.size(); ++i) {
    TAPER_TRY(write_input(*args[i], graph_.values[graph_.inputs[i]], input_offsets_[i]));
  }
  *words_at(read_back_, 0) = 0;
  TAPER_TRY(device_.run(commands_, fence_));
  TAPER_REQUIRE(*words_at(read_back_, 0) == 0, Error::kInvalidArgument, "an index is out of range");
  for (size_t i = 0; i < graph_.outputs.size(); ++i) {
    TAPER_TRY(read_output(*args[graph_.inputs.size() + i], graph_.outputs[i], output_offsets_[i]));
  }
  return {};
}

}  // namespace taper::vulkan
