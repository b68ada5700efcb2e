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

uint64_t padded(uint64_t bytes) { return (bytes + 255) / 256 * 256; }

uint64_t word_bytes(const Dims& dims) { return static_cast<uint64_t>(dims.numel()) * 4; }

uint32_t* words_at(const Buffer& buffer, uint64_t offset) {
  return reinterpret_cast<uint32_t*>(buffer.mapped() + offset);
}

bool is_empty(const Dispatch& dispatch) {
  return dispatch.groups[0] == 0 || dispatch.groups[1] == 0 || dispatch.groups[2] == 0;
}

// Writes `count` words of a constant, from that byte of its data on.
Status write_words(const PayloadValue& value, const Place& place, size_t first, size_t count,
                   uint32_t* words) {
  const uint8_t* data = value.data.data() + first;
  if (!place.has_bytes) return to_words(value.dtype, data, count, words);
  const size_t left = value.data.size() - std::min(value.data.size(), first);
  std::memcpy(words, data, std::min(left, count * 4));
  return {};
}

}  // namespace

GpuMethod::~GpuMethod() {
  if (device_.is_stuck()) return;
  const VolkDeviceTable& vk = device_.vk();
  vk.vkDestroyFence(device_.handle(), fence_, nullptr);
  for (const Recording& recording : recordings_) {
    vk.vkDestroyDescriptorPool(device_.handle(), recording.pool, nullptr);
  }
  vk.vkDestroyCommandPool(device_.handle(), command_pool_, nullptr);
}

Status GpuMethod::load(Span<const uint8_t> payload, const ConstantSource& source,
                       const ThreadPool& pool, bool in_half) {
  TAPER_TRY(graph_.read(payload, &source));
  graph_.in_half = in_half;
  widen_constants(graph_);
  fuse(graph_);
  TAPER_TRY(plan_.build(graph_, device_.limits()));
  for (const PayloadValue& value : graph_.values) {
    TAPER_REQUIRE(value.kind != Kind::kTensor || has_words(value.dtype),
                  Error::kDelegateInvalidCompatibility,
                  "the payload has a dtype that the GPU does not compute with");
  }
  find_homes();
  TAPER_TRY(allocate_memory());
  TAPER_TRY(allocate_commands());
  TAPER_TRY(write_constants(/*states=*/false));
  TAPER_TRY(write_constants(/*states=*/true));
  TAPER_TRY(pipelines_.prepare(plan_.dispatches(), pool));
  const std::vector<Dispatch>& dispatches = plan_.dispatches();
  if (std::any_of(dispatches.begin(), dispatches.end(), [](const Dispatch& d) { return d.once; })) {
    TAPER_TRY(record(recordings_[0], true));
    WaitTime time;
    TAPER_TRY(device_.run(recordings_[0].commands, fence_, time));
  }
  loading_.free();
  shared_.add(own_);
  own_.clear();
  return take_recording();
}

// What is computed from constants is a method's own: it depends on how that one is planned.
void GpuMethod::find_homes() {
  homes_.resize(plan_.places().size());
  for (ValueId id = 0; id < homes_.size(); ++id) {
    const Place& place = plan_.places()[id];
    const bool is_used = place.root == id && place.first <= place.last;
    if (place.memory != Place::Memory::kConstants || !is_used) continue;
    ConstantKey key = {nullptr, place.bytes, ScalarType::kByte, place.has_bytes};
    const bool can_share = id < graph_.values.size() && graph_.values[id].is_constant;
    if (can_share) {
      key.data = graph_.values[id].data.data();
      key.dtype = graph_.values[id].dtype;
      homes_[id] = shared_.find(key);
    }
    if (homes_[id] != nullptr) continue;
    homes_[id] = std::make_shared<const ConstantHome>(ConstantHome{constants_, constant_bytes_});
    constant_bytes_ += padded(place.bytes);
    if (can_share) own_[key] = homes_[id];
  }
}

// Decides which of them are copied: in place they are in the arena. `bytes` are taken before them.
// Returns the bytes that they need outside the arena.
uint64_t GpuMethod::make_ports(const std::vector<ValueId>& ids, bool in_place, uint64_t bytes,
                               std::vector<Port>& ports) const {
  for (const ValueId id : ids) {
    Port port;
    port.is_copied = !in_place && graph_.values[id].kind == Kind::kTensor;
    port.offset = bytes;
    ports.push_back(port);
    if (port.is_copied) bytes += padded(word_bytes(graph_.values[id].limits));
  }
  return bytes;
}

void GpuMethod::map_ports(const std::vector<ValueId>& ids, const Buffer& copies,
                          std::vector<Port>& ports) const {
  for (size_t i = 0; i < ids.size(); ++i) {
    if (graph_.values[ids[i]].kind != Kind::kTensor) continue;
    const Location in_place = location_of(ids[i]);
    ports[i].words = ports[i].is_copied ? words_at(copies, ports[i].offset)
                                        : words_at(*in_place.buffer, in_place.offset);
  }
}

Status GpuMethod::allocate_memory() {
  TAPER_TRY(device_.allocate(plan_.arena_bytes(), Use::kGpu, arena_));
  TAPER_TRY(device_.allocate(constant_bytes_, Use::kGpu, *constants_));
  TAPER_TRY(device_.allocate(plan_.state_bytes(), Use::kGpu, states_));
  TAPER_TRY(device_.allocate(plan_.loading_bytes(), Use::kGpu, loading_));
  const bool is_mapped = arena_.mapped() != nullptr && constants_->mapped() != nullptr &&
                         states_.mapped() != nullptr && loading_.mapped() != nullptr;
  const uint64_t inputs = make_ports(graph_.inputs, is_mapped, 0, inputs_);
  const uint64_t stored = constant_bytes_ + plan_.loading_bytes() + plan_.state_bytes();
  const uint64_t staged = is_mapped ? 0 : std::min(stored, kUploadBytes);
  TAPER_TRY(device_.allocate(std::max(inputs, staged), Use::kUpload, upload_));
  const bool is_readable =
      is_mapped && arena_.is_cached() && constants_->is_cached() && states_.is_cached();
  const uint64_t outputs = make_ports(graph_.outputs, is_readable, kFaultBytes, outputs_);
  TAPER_TRY(device_.allocate(outputs, Use::kReadBack, read_back_));
  map_ports(graph_.inputs, upload_, inputs_);
  map_ports(graph_.outputs, read_back_, outputs_);
  return {};
}

void GpuMethod::tell_memory(MemoryListener& listener) const {
  using Kind = MemoryBlock::Kind;
  listener.add(MemoryBlock{"constants", constants_->bytes(), Kind::kDevice});
  listener.add(MemoryBlock{"states", states_.bytes(), Kind::kDevice});
  const uint64_t copies = upload_.bytes() + read_back_.bytes();
  listener.add(MemoryBlock{"copies to and from the device", copies, Kind::kDevice});
  listener.add(MemoryBlock{"intermediate results", arena_.bytes(), Kind::kDevice});
  for (ValueId id = 0; id < plan_.places().size(); ++id) {
    const Place& place = plan_.places()[id];
    if (place.root != id || place.memory != Place::Memory::kArena || place.bytes == 0) continue;
    listener.add(PlacedResult{place.offset, place.bytes, place.first, place.last,
                              graph_.node_of(id, place.first)});
  }
}

Status GpuMethod::allocate_commands() {
  const VolkDeviceTable& vk = device_.vk();
  VkCommandPoolCreateInfo pool = {};
  pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  pool.queueFamilyIndex = device_.queue_family();
  TAPER_TRY(device_.check(vk.vkCreateCommandPool(device_.handle(), &pool, nullptr, &command_pool_),
                          "there is no memory for commands"));
  VkCommandBuffer made[kMostRecordings];
  VkCommandBufferAllocateInfo commands = {};
  commands.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  commands.commandPool = command_pool_;
  commands.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  commands.commandBufferCount = kMostRecordings;
  TAPER_TRY(device_.check(vk.vkAllocateCommandBuffers(device_.handle(), &commands, made),
                          "there is no memory for commands"));
  for (size_t i = 0; i < kMostRecordings; ++i) recordings_[i].commands = made[i];
  VkFenceCreateInfo fence = {};
  fence.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
  TAPER_TRY(device_.check(vk.vkCreateFence(device_.handle(), &fence, nullptr, &fence_),
                          "there is no memory for a fence"));
  return {};
}

GpuMethod::Location GpuMethod::location_of(ValueId value) const {
  const ValueId id = plan_.places()[value].root;
  const Place& root = plan_.places()[id];
  switch (root.memory) {
    case Place::Memory::kConstants:
      return {homes_[id]->buffer.get(), homes_[id]->offset};
    case Place::Memory::kLoading:
      return {&loading_, root.offset};
    case Place::Memory::kStates:
      return {&states_, root.offset};
    default:
      return {&arena_, root.offset};
  }
}

Status GpuMethod::make_sets(Recording& recording, size_t count,
                            std::vector<VkDescriptorSet>& sets) const {
  const VolkDeviceTable& vk = device_.vk();
  vk.vkDestroyDescriptorPool(device_.handle(), recording.pool, nullptr);
  recording.pool = VK_NULL_HANDLE;
  sets.resize(count);
  if (count == 0) return {};
  const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                     static_cast<uint32_t>(count * Dispatch::kMaxBindings)};
  VkDescriptorPoolCreateInfo pool = {};
  pool.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
  pool.maxSets = static_cast<uint32_t>(count);
  pool.poolSizeCount = 1;
  pool.pPoolSizes = &size;
  TAPER_TRY(
      device_.check(vk.vkCreateDescriptorPool(device_.handle(), &pool, nullptr, &recording.pool),
                    "there is no memory for descriptors"));
  const std::vector<VkDescriptorSetLayout> layouts(count, pipelines_.set_layout());
  VkDescriptorSetAllocateInfo allocation = {};
  allocation.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
  allocation.descriptorPool = recording.pool;
  allocation.descriptorSetCount = static_cast<uint32_t>(count);
  allocation.pSetLayouts = layouts.data();
  TAPER_TRY(device_.check(vk.vkAllocateDescriptorSets(device_.handle(), &allocation, sets.data()),
                          "there is no memory for descriptors"));
  return {};
}

Status GpuMethod::flush_constants(std::vector<ConstantCopy>& copies) {
  if (copies.empty()) return {};
  const VolkDeviceTable& vk = device_.vk();
  const VkCommandBuffer commands = recordings_[0].commands;
  VkCommandBufferBeginInfo begin = {};
  begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  TAPER_TRY(
      device_.check(vk.vkBeginCommandBuffer(commands, &begin), "there is no memory for commands"));
  for (const ConstantCopy& each : copies) {
    vk.vkCmdCopyBuffer(commands, upload_.handle(), each.to->handle(), 1, &each.copy);
  }
  TAPER_TRY(device_.check(vk.vkEndCommandBuffer(commands), "there is no memory for commands"));
  copies.clear();
  WaitTime time;
  return device_.run(commands, fence_, time);
}

// Where the host does not see the memory, constants go through upload_, as much at a time as it
// holds.
Status GpuMethod::write_constants(bool states) {
  uint64_t used = 0;
  std::vector<ConstantCopy> copies;
  for (ValueId id = 0; id < graph_.values.size(); ++id) {
    const Place& place = plan_.places()[id];
    const PayloadValue& value = graph_.values[id];
    const bool is_wanted = value.is_constant && place.root == id && place.first <= place.last;
    if (!is_wanted || (place.memory == Place::Memory::kStates) != states) continue;
    const Location to = location_of(id);
    const bool is_shared =
        place.memory == Place::Memory::kConstants && to.buffer != constants_.get();
    if (is_shared) continue;
    const size_t element = place.has_bytes ? 4 : element_size(value.dtype);
    const size_t count = place.has_bytes ? static_cast<size_t>(place.bytes / 4)
                                         : static_cast<size_t>(value.dims.numel());
    if (to.buffer->mapped() != nullptr) {
      TAPER_TRY(write_words(value, place, 0, count, words_at(*to.buffer, to.offset)));
      continue;
    }
    for (size_t done = 0; done < count;) {
      if (used == upload_.bytes()) {
        TAPER_TRY(flush_constants(copies));
        used = 0;
      }
      const size_t part =
          std::min<size_t>(count - done, static_cast<size_t>((upload_.bytes() - used) / 4));
      TAPER_TRY(write_words(value, place, done * element, part, words_at(upload_, used)));
      copies.push_back({to.buffer, {used, to.offset + done * 4, part * 4}});
      used += part * 4;
      done += part;
    }
  }
  return flush_constants(copies);
}

VkDescriptorBufferInfo GpuMethod::range_of(ValueId value) const {
  if (value == kFaultValue) return {read_back_.handle(), 0, 4};
  const Location from = location_of(value);
  return {from.buffer->handle(), from.offset, plan_.places()[plan_.places()[value].root].bytes};
}

// A variant of a shader may not use all buffers that the shader names, but Vulkan wants each to be
// there: the others are the word for faults.
void GpuMethod::write_set(const Dispatch& dispatch, VkDescriptorSet set) const {
  VkDescriptorBufferInfo ranges[Dispatch::kMaxBindings];
  VkWriteDescriptorSet writes[Dispatch::kMaxBindings] = {};
  for (uint32_t i = 0; i < Dispatch::kMaxBindings; ++i) {
    ranges[i] = range_of(i < dispatch.num_bindings ? dispatch.bindings[i].value : kFaultValue);
    writes[i].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
    writes[i].dstSet = set;
    writes[i].dstBinding = i;
    writes[i].descriptorCount = 1;
    writes[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    writes[i].pBufferInfo = &ranges[i];
  }
  device_.vk().vkUpdateDescriptorSets(device_.handle(), Dispatch::kMaxBindings, writes, 0, nullptr);
}

void GpuMethod::barrier(VkCommandBuffer commands, VkPipelineStageFlags from, VkAccessFlags written,
                        VkPipelineStageFlags to, VkAccessFlags read) const {
  VkMemoryBarrier memory = {};
  memory.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  memory.srcAccessMask = written;
  memory.dstAccessMask = read;
  device_.vk().vkCmdPipelineBarrier(commands, from, to, 0, 1, &memory, 0, nullptr, 0, nullptr);
}

void GpuMethod::record_copies(VkCommandBuffer commands, bool to_gpu) const {
  const std::vector<ValueId>& ids = to_gpu ? graph_.inputs : graph_.outputs;
  const std::vector<Port>& ports = to_gpu ? inputs_ : outputs_;
  for (size_t i = 0; i < ids.size(); ++i) {
    const uint64_t bytes = ports[i].is_copied ? word_bytes(graph_.values[ids[i]].dims) : 0;
    if (bytes == 0) continue;
    const VkDescriptorBufferInfo place = range_of(ids[i]);
    const uint64_t offset = ports[i].offset;
    const VkBufferCopy copy = {to_gpu ? offset : place.offset, to_gpu ? place.offset : offset,
                               bytes};
    device_.vk().vkCmdCopyBuffer(commands, to_gpu ? upload_.handle() : place.buffer,
                                 to_gpu ? place.buffer : read_back_.handle(), 1, &copy);
  }
}

void GpuMethod::record_dispatch(VkCommandBuffer commands, const Dispatch& dispatch,
                                VkDescriptorSet set, VkPipeline pipeline) const {
  const VolkDeviceTable& vk = device_.vk();
  constexpr VkPipelineStageFlags kCompute = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
  if (dispatch.barrier || profiler_ != nullptr) {
    barrier(commands, kCompute, VK_ACCESS_SHADER_WRITE_BIT, kCompute,
            VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
  }
  vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
  vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipelines_.layout(), 0, 1,
                             &set, 0, nullptr);
  if (dispatch.push_bytes != 0) {
    vk.vkCmdPushConstants(commands, pipelines_.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                          dispatch.push_bytes, dispatch.push);
  }
  vk.vkCmdDispatch(commands, dispatch.groups[0], dispatch.groups[1], dispatch.groups[2]);
}

Status GpuMethod::record_dispatches(Recording& recording, bool once) {
  std::vector<const Dispatch*> recorded;
  for (const Dispatch& dispatch : plan_.dispatches()) {
    if (!is_empty(dispatch) && dispatch.once == once) recorded.push_back(&dispatch);
  }
  std::vector<VkDescriptorSet> sets;
  TAPER_TRY(make_sets(recording, recorded.size(), sets));
  const bool is_timed = profiler_ != nullptr && !once && StepTimes::can(device_);
  if (is_timed && recording.times == nullptr) {
    recording.times.reset(new (std::nothrow) StepTimes(device_));
    TAPER_REQUIRE(recording.times != nullptr, Error::kDelegateMemoryAllocationFailed,
                  "there is no memory");
  }
  if (is_timed) {
    TAPER_TRY(recording.times->open(recorded.size()));
    recording.times->begin(recording.commands);
  }
  for (size_t i = 0; i < recorded.size(); ++i) {
    const Result<VkPipeline> pipeline = pipelines_.find(*recorded[i]);
    TAPER_TRY(pipeline.status());
    write_set(*recorded[i], sets[i]);
    record_dispatch(recording.commands, *recorded[i], sets[i], *pipeline);
    if (is_timed) recording.times->end_step(recording.commands, *recorded[i], graph_);
  }
  return {};
}

Status GpuMethod::record(Recording& recording, bool once) {
  const Status status = record_all(recording, once);
  // Commands that are half recorded would have to be ended before they begin anew.
  if (!status.ok()) (void)device_.vk().vkResetCommandBuffer(recording.commands, 0);
  return status;
}

// What the host has written is there for all that is submitted afterwards.
Status GpuMethod::record_all(Recording& recording, bool once) {
  const VolkDeviceTable& vk = device_.vk();
  const VkCommandBuffer commands = recording.commands;
  VkCommandBufferBeginInfo begin = {};
  begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  TAPER_TRY(
      device_.check(vk.vkBeginCommandBuffer(commands, &begin), "there is no memory for commands"));
  constexpr VkPipelineStageFlags kCompute = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
  constexpr VkPipelineStageFlags kCopy = VK_PIPELINE_STAGE_TRANSFER_BIT;
  if (!once) record_copies(commands, true);
  barrier(commands, kCopy | kCompute, VK_ACCESS_TRANSFER_WRITE_BIT | VK_ACCESS_SHADER_WRITE_BIT,
          kCompute | kCopy,
          VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_READ_BIT);
  TAPER_TRY(record_dispatches(recording, once));
  barrier(commands, kCompute, VK_ACCESS_SHADER_WRITE_BIT, kCopy | VK_PIPELINE_STAGE_HOST_BIT,
          VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_HOST_READ_BIT);
  if (!once) record_copies(commands, false);
  barrier(commands, kCopy, VK_ACCESS_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_HOST_BIT,
          VK_ACCESS_HOST_READ_BIT);
  TAPER_TRY(device_.check(vk.vkEndCommandBuffer(commands), "there is no memory for commands"));
  return {};
}

GpuMethod::Recording& GpuMethod::oldest() {
  return *std::min_element(
      std::begin(recordings_), std::end(recordings_),
      [](const Recording& a, const Recording& b) { return a.last_use < b.last_use; });
}

// What the current commands depend on: sizes, numbers, and elements that plans read.
void GpuMethod::take_key() {
  key_.clear();
  for (const ValueId id : graph_.inputs) {
    const PayloadValue& input = graph_.values[id];
    if (input.kind != Kind::kTensor) key_.push_back(input.integer);
    for (size_t i = 0; i < input.dims.rank; ++i) key_.push_back(input.dims[i]);
    if (!input.is_read || input.given == nullptr) continue;
    const size_t bytes = static_cast<size_t>(input.dims.numel()) * element_size(input.given_dtype);
    for (size_t i = 0; i < bytes; ++i) key_.push_back(input.given[i]);
  }
}

Status GpuMethod::reset() {
  recordings_[0].last_use = 0;  // Its commands go, to copy what the states hold at first.
  is_stale_ = true;
  return write_constants(/*states=*/true);
}

Status GpuMethod::take_recording() {
  take_key();
  for (Recording& recording : recordings_) {
    if (recording.last_use == 0 || recording.key != key_) continue;
    current_ = &recording;
    return {};
  }
  Recording& recording = oldest();
  recording.last_use = 0;
  if (is_stale_) TAPER_TRY(plan_.build(graph_, device_.limits()));
  TAPER_TRY(record(recording, false));
  recording.key = key_;
  recording.outputs.clear();
  for (const ValueId id : graph_.outputs) {
    recording.outputs.push_back({graph_.values[id].dims, graph_.values[id].integer});
  }
  recording.last_use = ++uses_;
  current_ = &recording;
  return {};
}

Status GpuMethod::write_input(const EValue& arg, const PayloadValue& input,
                              const Port& port) const {
  if (input.kind != Kind::kTensor) return {};
  const auto count = static_cast<size_t>(input.dims.numel());
  const Tensor& tensor = arg.to_tensor();
  return to_words(tensor.scalar_type(), tensor.const_data(), count, port.words);
}

Status GpuMethod::read_output(EValue& arg, ValueId output, const OutputForm& form,
                              const Port& port) const {
  const PayloadValue& value = graph_.values[output];
  if (value.kind != Kind::kTensor) return set_number(arg, form.number);
  TAPER_TRY(resize_output(arg, value, form.dims));
  const Tensor& tensor = arg.to_tensor();
  from_words(tensor.scalar_type(), port.words, static_cast<size_t>(tensor.numel()),
             tensor.mutable_data());
  return {};
}

bool GpuMethod::may_have_wide_inputs() const {
  for (const ValueId id : graph_.inputs) {
    const PayloadValue& value = graph_.values[id];
    const bool is_wide = value.dtype == ScalarType::kLong || value.dtype == ScalarType::kInt ||
                         value.dtype == ScalarType::kDouble;
    if (value.kind == Kind::kTensor && is_wide) return true;
  }
  return false;
}

Status GpuMethod::execute(BackendExecutionContext&, Span<EValue* const> args) {
  TAPER_REQUIRE(args.size() == graph_.inputs.size() + graph_.outputs.size(),
                Error::kInvalidArgument, "the payload has another number of arguments");
  for (size_t i = 0; i < graph_.inputs.size(); ++i) {
    TAPER_TRY(take_sizes(*args[i], graph_.values[graph_.inputs[i]], is_stale_));
  }
  if (is_stale_) TAPER_TRY(take_recording());
  is_stale_ = false;
  current_->last_use = ++uses_;
  for (size_t i = 0; i < graph_.inputs.size(); ++i) {
    TAPER_TRY(write_input(*args[i], graph_.values[graph_.inputs[i]], inputs_[i]));
  }
  *words_at(read_back_, 0) = 0;
  TAPER_TRY(device_.run(current_->commands, fence_, current_->wait));
  TAPER_REQUIRE(*words_at(read_back_, 0) == 0, Error::kInvalidArgument, "an index is out of range");
  for (size_t i = 0; i < graph_.outputs.size(); ++i) {
    TAPER_TRY(read_output(*args[graph_.inputs.size() + i], graph_.outputs[i], current_->outputs[i],
                          outputs_[i]));
  }
  return current_->times != nullptr ? current_->times->report(*profiler_, this) : Status();
}

}  // namespace taper::vulkan
