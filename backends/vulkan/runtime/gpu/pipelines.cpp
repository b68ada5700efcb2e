#include "backends/vulkan/runtime/gpu/pipelines.h"

#include "backends/vulkan/planner/shader_sets.h"
#include "backends/vulkan/runtime/shader_code.h"

namespace taper::vulkan {
namespace {

constexpr const char* kMissing[] = {
#define TAPER_SHADER(name) \
  "the program is not linked with the shader " #name ", which the payload needs",
#include "backends/vulkan/planner/shaders.def"
#undef TAPER_SHADER
};

constexpr Error kFailed = Error::kDelegateInvalidCompatibility;

}  // namespace

Pipelines::~Pipelines() {
  const VolkDeviceTable& vk = device_.vk();
  for (const auto& entry : pipelines_)
    vk.vkDestroyPipeline(device_.handle(), entry.second, nullptr);
  for (const auto& entry : modules_) {
    vk.vkDestroyShaderModule(device_.handle(), entry.second, nullptr);
  }
  vk.vkDestroyPipelineCache(device_.handle(), cache_, nullptr);
  vk.vkDestroyPipelineLayout(device_.handle(), layout_, nullptr);
  vk.vkDestroyDescriptorSetLayout(device_.handle(), set_layout_, nullptr);
}

Status Pipelines::open() {
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
  TAPER_REQUIRE(
      vk.vkCreateDescriptorSetLayout(device_.handle(), &set, nullptr, &set_layout_) == VK_SUCCESS,
      kFailed, "the GPU does not bind six buffers");
  const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, Dispatch::kMaxPushBytes};
  VkPipelineLayoutCreateInfo layout = {};
  layout.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
  layout.setLayoutCount = 1;
  layout.pSetLayouts = &set_layout_;
  layout.pushConstantRangeCount = 1;
  layout.pPushConstantRanges = &range;
  TAPER_REQUIRE(
      vk.vkCreatePipelineLayout(device_.handle(), &layout, nullptr, &layout_) == VK_SUCCESS,
      kFailed, "the GPU does not take the layout of pipelines");
  VkPipelineCacheCreateInfo cache = {};
  cache.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO;
  TAPER_REQUIRE(vk.vkCreatePipelineCache(device_.handle(), &cache, nullptr, &cache_) == VK_SUCCESS,
                kFailed, "no cache of pipelines can be made");
  return {};
}

Result<VkShaderModule> Pipelines::module(Shader shader) {
  const auto known = modules_.find(shader);
  if (known != modules_.end()) return known->second;
  const std::string_view name = shader_names()[static_cast<size_t>(shader)];
  for (const ShaderCode* each : shader_code()) {
    if (each->name != name) continue;
    std::vector<uint32_t> words(each->words);
    unpack(*each, words.data());
    VkShaderModuleCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    info.codeSize = words.size() * 4;
    info.pCode = words.data();
    VkShaderModule made = VK_NULL_HANDLE;
    TAPER_REQUIRE(
        device_.vk().vkCreateShaderModule(device_.handle(), &info, nullptr, &made) == VK_SUCCESS,
        kFailed, "the GPU refuses a shader");
    return modules_[shader] = made;
  }
  return Status(kFailed, kMissing[static_cast<size_t>(shader)]);
}

Pipelines::Key Pipelines::key_of(const Dispatch& dispatch) {
  Key key = {static_cast<uint32_t>(dispatch.shader)};
  key.insert(key.end(), dispatch.constants, dispatch.constants + dispatch.num_constants);
  return key;
}

Status Pipelines::prepare(const std::vector<Dispatch>& dispatches) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::map<Key, const Dispatch*> missing;
  for (const Dispatch& dispatch : dispatches) {
    const Key key = key_of(dispatch);
    if (pipelines_.count(key) == 0) missing[key] = &dispatch;
  }
  std::vector<const Dispatch*> wanted;
  for (const auto& entry : missing) wanted.push_back(entry.second);
  return wanted.empty() ? Status() : make(wanted);
}

Result<VkPipeline> Pipelines::find(const Dispatch& dispatch) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Key key = key_of(dispatch);
  if (pipelines_.count(key) == 0) TAPER_TRY(make({&dispatch}));
  return pipelines_[key];
}

Status Pipelines::make(const std::vector<const Dispatch*>& dispatches) {
  VkSpecializationMapEntry entries[Dispatch::kMaxConstants];
  for (uint32_t i = 0; i < Dispatch::kMaxConstants; ++i) entries[i] = {i, i * 4, 4};
  std::vector<VkSpecializationInfo> constants(dispatches.size());
  std::vector<VkComputePipelineCreateInfo> infos(dispatches.size());
  for (size_t i = 0; i < dispatches.size(); ++i) {
    const Dispatch& dispatch = *dispatches[i];
    const Result<VkShaderModule> code = module(dispatch.shader);
    TAPER_TRY(code.status());
    constants[i].mapEntryCount = dispatch.num_constants;
    constants[i].pMapEntries = entries;
    constants[i].dataSize = dispatch.num_constants * size_t{4};
    constants[i].pData = dispatch.constants;
    VkComputePipelineCreateInfo& info = infos[i];
    info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
    info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = *code;
    info.stage.pName = "main";
    info.stage.pSpecializationInfo = &constants[i];
    info.layout = layout_;
  }
  std::vector<VkPipeline> made(infos.size(), VK_NULL_HANDLE);
  const VkResult result = device_.vk().vkCreateComputePipelines(device_.handle(), cache_,
                                                                static_cast<uint32_t>(infos.size()),
                                                                infos.data(), nullptr, made.data());
  for (size_t i = 0; i < made.size(); ++i) {
    if (made[i] != VK_NULL_HANDLE) pipelines_[key_of(*dispatches[i])] = made[i];
  }
  TAPER_REQUIRE(result == VK_SUCCESS, kFailed, "the GPU refuses a pipeline");
  return {};
}

}  // namespace taper::vulkan
