#include "backends/vulkan/runtime/gpu/pipelines.h"

#include "backends/vulkan/runtime/shader_code.h"

namespace taper::vulkan {
namespace {

constexpr const char* kNames[] = {
#define TAPER_SHADER(name) #name,
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
  const std::string_view name = kNames[static_cast<size_t>(shader)];
  for (const ShaderCode& each : shader_code()) {
    if (each.name != name) continue;
    VkShaderModuleCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    info.codeSize = each.words.size() * 4;
    info.pCode = each.words.data();
    VkShaderModule made = VK_NULL_HANDLE;
    TAPER_REQUIRE(
        device_.vk().vkCreateShaderModule(device_.handle(), &info, nullptr, &made) == VK_SUCCESS,
        kFailed, "the GPU refuses a shader");
    return modules_[shader] = made;
  }
  return Status(kFailed, "a shader that the payload needs is not linked");
}

Result<VkPipeline> Pipelines::find(const Dispatch& dispatch) {
  Key key = {static_cast<uint32_t>(dispatch.shader)};
  key.insert(key.end(), dispatch.constants, dispatch.constants + dispatch.num_constants);
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto known = pipelines_.find(key);
  if (known != pipelines_.end()) return known->second;
  const Result<VkPipeline> made = make(dispatch);
  TAPER_TRY(made.status());
  return pipelines_[key] = *made;
}

Result<VkPipeline> Pipelines::make(const Dispatch& dispatch) {
  const Result<VkShaderModule> code = module(dispatch.shader);
  TAPER_TRY(code.status());
  VkSpecializationMapEntry entries[Dispatch::kMaxConstants];
  for (uint32_t i = 0; i < dispatch.num_constants; ++i) entries[i] = {i, i * 4, 4};
  VkSpecializationInfo constants = {};
  constants.mapEntryCount = dispatch.num_constants;
  constants.pMapEntries = entries;
  constants.dataSize = dispatch.num_constants * size_t{4};
  constants.pData = dispatch.constants;
  VkComputePipelineCreateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = *code;
  info.stage.pName = "main";
  info.stage.pSpecializationInfo = &constants;
  info.layout = layout_;
  VkPipeline made = VK_NULL_HANDLE;
  TAPER_REQUIRE(device_.vk().vkCreateComputePipelines(device_.handle(), cache_, 1, &info, nullptr,
                                                      &made) == VK_SUCCESS,
                kFailed, "the GPU refuses a pipeline");
  return made;
}

}  // namespace taper::vulkan
