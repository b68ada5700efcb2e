#include "backends/vulkan/planner/shader_sets.h"

#include <algorithm>
#include <initializer_list>

#include "backends/vulkan/planner/fuse.h"
#include "backends/vulkan/planner/limits_profiles.h"

namespace taper::vulkan {
namespace {

constexpr const char* kNames[] = {
#define TAPER_SHADER(name, halves) #name,
#include "backends/vulkan/planner/shaders.def"
#undef TAPER_SHADER
};

// Shaders of which sizes, or the device, decide which one is taken.
constexpr std::initializer_list<Shader> kProducts = {Shader::gemm, Shader::gemv, Shader::sum_parts};
constexpr std::initializer_list<Shader> kPackedProducts = {
    Shader::gemv_packed, Shader::dequantise, Shader::gemm, Shader::gemv, Shader::sum_parts};
constexpr std::initializer_list<Shader> kAttention = {Shader::attention, Shader::attention_parts};

void complete(std::initializer_list<Shader> alike, std::set<Shader>& shaders) {
  const bool any = std::any_of(alike.begin(), alike.end(),
                               [&](Shader shader) { return shaders.count(shader) != 0; });
  if (any) shaders.insert(alike);
}

}  // namespace

Span<const char* const> shader_names() { return kNames; }

Status add_shaders(PayloadGraph& graph, std::set<Shader>& shaders) {
  fuse(graph);
  std::set<Shader> found;
  for (const LimitsProfile& profile : limits_profiles()) {
    Plan plan;
    Limits limits = profile.limits;
    limits.matrix_units = graph.in_half;
    limits.byte_products = true;
    const Status status = plan.build(graph, limits);
    // A device that is too small for it needs none of its shaders.
    if (status.error() == Error::kDelegateMemoryAllocationFailed) continue;
    TAPER_TRY(status);
    for (const Dispatch& dispatch : plan.dispatches()) found.insert(dispatch.shader);
  }
  // Devices without matrix units, or without dot products, have another shader.
  if (found.count(Shader::byte_units) != 0) found.insert(Shader::gemm_bytes);
  if (found.count(Shader::matrix_units) != 0) found.insert(Shader::gemm);
  if (found.count(Shader::gemm_bytes) != 0) found.insert(Shader::gemm);
  if (found.count(Shader::attention_units) != 0) found.insert(Shader::attention);
  complete(kProducts, found);
  if (found.count(Shader::gemv_packed) != 0 || found.count(Shader::dequantise) != 0) {
    complete(kPackedProducts, found);
  }
  complete(kAttention, found);
  found.insert(Shader::copy);  // A view of some sizes is a copy of others.
  shaders.insert(found.begin(), found.end());
  return {};
}

}  // namespace taper::vulkan
