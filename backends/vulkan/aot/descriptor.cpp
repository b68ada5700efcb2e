// The compiler half of the backend's descriptor: its options, and what a payload says of itself.

#include "backends/vulkan/descriptor.h"

#include <cstring>
#include <map>

#include "backends/vulkan/aot/vulkan_compiler.h"
#include "backends/vulkan/planner/fuse.h"
#include "backends/vulkan/planner/operators.h"
#include "backends/vulkan/planner/plan.h"
#include "backends/vulkan/planner/shader_sets.h"
#include "exir/delegate/compiler_descriptor.h"

namespace taper::vulkan {
namespace {

using exir::CompileOption;

constexpr CompileOption kOptions[] = {
    {.key = kMinElements,
     .kind = CompileOption::Kind::kInteger,
     .most = INT32_MAX,
     .standard = 1 << 16,
     .help = "Elements that a group without products computes at least; below, it does not pay"},
    {.key = kForceHalf,
     .reader = CompileOption::Reader::kDevice,
     .help = "Tensors on the device are float16, with sums of float32; as --precision f16"},
};

std::shared_ptr<const exir::BackendCompiler> make(const exir::CompileOptions& options) {
  return std::make_shared<VulkanCompiler>(options);
}

bool is_half(CompileSpecs specs) {
  bool found = false;
  for (size_t i = 0; i < specs.size(); ++i) {
    const bool is_key = specs[i].key == kForceHalf && specs[i].value.size() == 1;
    if (is_key) found = specs[i].value[0] != 0;
  }
  return found;
}

// "34 calls, with the least limits 41 dispatches, 35 barriers, 1234 bytes of constants, 512 of
// arena (at least 480)": a device with other limits may need others.
std::string inspect(std::span<const uint8_t> payload, CompileSpecs specs) {
  PayloadGraph graph;
  Status status = graph.read({payload.data(), payload.size()}, nullptr);
  graph.in_half = is_half(specs);
  Plan plan;
  if (status.ok()) fuse(graph);
  if (status.ok()) status = plan.build(graph, Limits());
  if (!status.ok()) return status.message();
  size_t barriers = 0;
  for (const Dispatch& dispatch : plan.dispatches()) barriers += dispatch.barrier;
  return std::to_string(graph.calls.size()) + " calls, with the least limits " +
         std::to_string(plan.dispatches().size()) + " dispatches, " + std::to_string(barriers) +
         " barriers, " + std::to_string(plan.constant_bytes()) + " bytes of constants, " +
         std::to_string(plan.arena_bytes()) + " of arena (at least " +
         std::to_string(plan.arena_bound()) + ")";
}

// Its shaders.
std::set<std::string> parts(std::span<const uint8_t> payload, CompileSpecs specs) {
  PayloadGraph graph;
  std::set<Shader> shaders;
  Status status = graph.read({payload.data(), payload.size()}, nullptr);
  graph.in_half = is_half(specs);
  if (status.ok()) status = add_shaders(graph, shaders);
  std::set<std::string> names;
  for (size_t i = 0; i < shader_names().size(); ++i) {
    const bool is_needed = !status.ok() || shaders.count(static_cast<Shader>(i)) != 0;
    if (is_needed) names.insert(shader_names()[i]);
  }
  return names;
}

// Defines shader_code() of runtime/shader_code.h, so that no other table of shaders is linked.
std::string link_parts(const std::set<std::string>& parts) {
  std::string declarations, rows;
  for (const std::string& name : parts) {
    declarations += "extern const ShaderCode " + name + ";\n";
    rows += "    &shaders::" + name + ",\n";
  }
  return "#include \"taper/span.h\"\n\nnamespace taper::vulkan {\n\nstruct ShaderCode;\n"
         "namespace shaders {\n" +
         declarations + "}  // namespace shaders\n\nnamespace {\nconstexpr const ShaderCode* " +
         "kShaders[] = {\n" + rows +
         "};\n}  // namespace\n\nSpan<const ShaderCode* const> shader_code();\n" +
         "Span<const ShaderCode* const> shader_code() { return kShaders; }\n\n" +
         "}  // namespace taper::vulkan\n";
}

}  // namespace

extern const exir::CompilerDescriptor kCompiler;
const exir::CompilerDescriptor kCompiler = {
    kIdentity, kOptions, make,       inspect,   "run scripts/deps.sh vulkan, then build",
    {},        parts,    link_parts, kForceHalf};

}  // namespace taper::vulkan
