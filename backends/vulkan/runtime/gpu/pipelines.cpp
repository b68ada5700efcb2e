// Makes pipelines, and keeps what the driver compiles.

#include "backends/vulkan/runtime/gpu/pipelines.h"

#include <algorithm>
#include <cstring>

#include "backends/vulkan/planner/shader_sets.h"
#include "backends/vulkan/runtime/shader_code.h"
#include "taper/content_hash.h"
#include "taper/file_data_loader.h"

namespace taper::vulkan {
namespace {

constexpr const char* kMissing[] = {
#define TAPER_SHADER(name, halves) \
  "the program is not linked with the shader " #name ", which the payload needs",
#include "backends/vulkan/planner/shaders.def"
#undef TAPER_SHADER
};

// What tells the constant of halves.glsl from others in a key.
constexpr uint32_t kHalvesKey = uint32_t{1} << 31;
constexpr size_t kMostKept = 4096;  // Pipelines in a file; then it begins anew.

PipelineOrigin origin_of(const VkPhysicalDeviceProperties& properties) {
  PipelineOrigin origin = {};
  static_assert(sizeof(origin.cache_uuid) == VK_UUID_SIZE);
  std::memcpy(origin.cache_uuid, properties.pipelineCacheUUID, VK_UUID_SIZE);
  origin.vendor = properties.vendorID;
  origin.device = properties.deviceID;
  origin.driver = properties.driverVersion;
  origin.pointer_bytes = sizeof(void*);
  return origin;
}

}  // namespace

std::string_view name_of(Shader shader) { return shader_names()[static_cast<size_t>(shader)]; }

Pipelines::~Pipelines() {
  if (device_.is_stuck()) return;
  const VolkDeviceTable& vk = device_.vk();
  for (const auto& entry : pipelines_)
    vk.vkDestroyPipeline(device_.handle(), entry.second, nullptr);
  for (const auto& entry : modules_) {
    vk.vkDestroyShaderModule(device_.handle(), entry.second.handle, nullptr);
  }
  vk.vkDestroyPipelineCache(device_.handle(), cache_, nullptr);
  vk.vkDestroyPipelineLayout(device_.handle(), layout_, nullptr);
  vk.vkDestroyDescriptorSetLayout(device_.handle(), set_layout_, nullptr);
}

// What the file has, if it can be used.
PipelineFile Pipelines::read_file(std::optional<MmapDataLoader>& loader) {
  Result<MmapDataLoader> opened = MmapDataLoader::open(path_);
  if (!opened.ok()) {
    if (opened.status().error() != Error::kNotFound) report_.problem = "it cannot be read";
    return {};
  }
  loader.emplace(std::move(*opened));
  const Result<Span<const uint8_t>> bytes = loader->load(0, loader->size());
  const Result<PipelineFile> file =
      read_pipeline_file(bytes.ok() ? *bytes : Span<const uint8_t>(), origin_);
  if (!file.ok()) {
    report_.problem = file.status().message();
    return {};
  }
  return file->pipelines.size() < kMostKept ? *file : PipelineFile();
}

Status Pipelines::open() {
  TAPER_TRY(make_layout());
  const VolkDeviceTable& vk = device_.vk();
  std::optional<MmapDataLoader> loader;
  PipelineFile file;
  if (path_ != nullptr) {
    origin_ = origin_of(device_.properties());
    file = read_file(loader);
  }
  VkPipelineCacheCreateInfo cache = {};
  cache.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO;
  cache.initialDataSize = file.data.size();
  cache.pInitialData = file.data.data();
  VkResult made = vk.vkCreatePipelineCache(device_.handle(), &cache, nullptr, &cache_);
  if (made != VK_SUCCESS && made != VK_ERROR_DEVICE_LOST && !file.data.empty()) {
    report_.problem = "the driver refuses it";
    file = {};
    cache.initialDataSize = 0;
    cache.pInitialData = nullptr;
    made = vk.vkCreatePipelineCache(device_.handle(), &cache, nullptr, &cache_);
  }
  TAPER_TRY(device_.check(made, "no cache of pipelines can be made"));
  known_.assign(file.pipelines.begin(), file.pipelines.end());
  saved_ = known_.size();
  return {};
}

Status Pipelines::make_layout() {
  const VolkDeviceTable& vk = device_.vk();
  VkDescriptorSetLayoutBinding bindings[Dispatch::kMaxBindings] = {};
  for (uint32_t i = 0; i < Dispatch::kMaxBindings; ++i) {
    bindings[i].binding = i;
    bindings[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    bindings[i].descriptorCount = 1;
    bindings[i].stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
  }
  VkDescriptorSetLayoutCreateInfo set = {};
  set.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
  set.bindingCount = Dispatch::kMaxBindings;
  set.pBindings = bindings;
  TAPER_TRY(
      device_.check(vk.vkCreateDescriptorSetLayout(device_.handle(), &set, nullptr, &set_layout_),
                    "the GPU does not bind eight buffers"));
  const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, Dispatch::kMaxPushBytes};
  VkPipelineLayoutCreateInfo layout = {};
  layout.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
  layout.setLayoutCount = 1;
  layout.pSetLayouts = &set_layout_;
  layout.pushConstantRangeCount = 1;
  layout.pPushConstantRanges = &range;
  return device_.check(vk.vkCreatePipelineLayout(device_.handle(), &layout, nullptr, &layout_),
                       "the GPU does not take the layout of pipelines");
}

Result<Pipelines::Module> Pipelines::module(Shader shader) {
  const auto known = modules_.find(shader);
  if (known != modules_.end()) return known->second;
  const std::string_view name = name_of(shader);
  for (const ShaderCode* each : shader_code()) {
    if (each->name != name) continue;
    std::vector<uint32_t> words(each->words);
    unpack(*each, words.data());
    VkShaderModuleCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    info.codeSize = words.size() * 4;
    info.pCode = words.data();
    VkShaderModule made = VK_NULL_HANDLE;
    TAPER_TRY(
        device_.check(device_.vk().vkCreateShaderModule(device_.handle(), &info, nullptr, &made),
                      "the GPU refuses a shader"));
    const uint64_t hash =
        content_hash({reinterpret_cast<const uint8_t*>(words.data()), words.size() * 4});
    return modules_[shader] = {made, hash};
  }
  return Status(Error::kDelegateInvalidCompatibility, kMissing[static_cast<size_t>(shader)]);
}

Pipelines::Key Pipelines::key_of(const Dispatch& dispatch) {
  Key key = {static_cast<uint32_t>(dispatch.shader)};
  key.insert(key.end(), dispatch.constants, dispatch.constants + dispatch.num_constants);
  if (dispatch.halves != 0) key.push_back(dispatch.halves | kHalvesKey);
  return key;
}

Status Pipelines::prepare(const std::vector<Dispatch>& dispatches, const ThreadPool& pool) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::map<Key, const Dispatch*> missing;
  for (const Dispatch& dispatch : dispatches) {
    const Key key = key_of(dispatch);
    if (pipelines_.count(key) == 0) missing[key] = &dispatch;
  }
  std::vector<const Dispatch*> wanted;
  for (const auto& entry : missing) wanted.push_back(entry.second);
  return make(wanted, pool);
}

Result<VkPipeline> Pipelines::find(const Dispatch& dispatch) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Key key = key_of(dispatch);
  if (pipelines_.count(key) == 0) TAPER_TRY(make({&dispatch}, {}));
  return pipelines_[key];
}

// Drivers compile one after another what one call asks for, so each pipeline is a call.
Status Pipelines::make(const std::vector<const Dispatch*>& dispatches, const ThreadPool& pool) {
  struct Task {
    const Dispatch* dispatch;
    Module code;
    VkPipeline made = VK_NULL_HANDLE;
    VkResult result = VK_SUCCESS;
  };
  std::vector<Task> tasks;
  for (const Dispatch* dispatch : dispatches) {
    const Result<Module> code = module(dispatch->shader);
    TAPER_TRY(code.status());
    tasks.push_back({dispatch, *code});
  }
  parallel_for(pool, tasks.size(), [&](size_t i) {
    tasks[i].result = compile(*tasks[i].dispatch, tasks[i].code.handle, tasks[i].made);
  });
  Status status;
  for (const Task& task : tasks) {
    if (task.result != VK_SUCCESS) {
      status = device_.check(task.result, "the GPU refuses a pipeline");
      continue;
    }
    const Key key = key_of(*task.dispatch);
    pipelines_[key] = task.made;
    if (path_ != nullptr) note(key, task.code.hash);
  }
  return status;
}

VkResult Pipelines::compile(const Dispatch& dispatch, VkShaderModule code, VkPipeline& made) const {
  // Those of the shader from 0 on, and at last the one of halves.glsl.
  VkSpecializationMapEntry entries[Dispatch::kMaxConstants + 1];
  uint32_t values[Dispatch::kMaxConstants + 1];
  const uint32_t count = dispatch.num_constants;
  for (uint32_t i = 0; i < count; ++i) {
    entries[i] = {i, i * 4, 4};
    values[i] = dispatch.constants[i];
  }
  entries[count] = {Dispatch::kMaxConstants, count * 4, 4};
  values[count] = dispatch.halves;
  VkSpecializationInfo constants = {};
  constants.mapEntryCount = count + 1;
  constants.pMapEntries = entries;
  constants.dataSize = (count + 1) * size_t{4};
  constants.pData = values;
  VkComputePipelineCreateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = code;
  info.stage.pName = "main";
  info.stage.pSpecializationInfo = &constants;
  info.layout = layout_;
  return device_.vk().vkCreateComputePipelines(device_.handle(), cache_, 1, &info, nullptr, &made);
}

void Pipelines::note(const Key& key, uint64_t shader) {
  const uint64_t hash = content_hash(
      {reinterpret_cast<const uint8_t*>(key.data() + 1), (key.size() - 1) * sizeof(uint32_t)},
      shader);
  if (std::find(known_.begin(), known_.end(), hash) != known_.end()) {
    ++report_.found;
    return;
  }
  ++report_.packed;
  known_.push_back(hash);
}

Status Pipelines::save() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (path_ == nullptr || saved_ == known_.size()) return {};
  const VolkDeviceTable& vk = device_.vk();
  size_t size = 0;
  std::vector<uint8_t> data;
  VkResult result = vk.vkGetPipelineCacheData(device_.handle(), cache_, &size, nullptr);
  data.resize(size);
  if (result == VK_SUCCESS) {
    result = vk.vkGetPipelineCacheData(device_.handle(), cache_, &size, data.data());
  }
  const Status status = device_.check(result, "");
  if (status.error() == Error::kOutOfResources) return status;
  TAPER_REQUIRE(status.ok(), Error::kAccessFailed, "the driver does not give its data");
  TAPER_TRY(write_pipeline_file(path_, {known_, {data.data(), size}}, origin_));
  saved_ = known_.size();
  return {};
}

PackedReport Pipelines::report() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return report_;
}

}  // namespace taper::vulkan
