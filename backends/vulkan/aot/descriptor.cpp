// The compiler half of the backend's descriptor: its options, and what a payload says of itself.

#include "backends/vulkan/descriptor.h"

#include <cstring>
#include <map>

#include "backends/vulkan/aot/vulkan_compiler.h"
#include "backends/vulkan/planner/fuse.h"
#include "backends/vulkan/planner/operators.h"
#include "backends/vulkan/planner/plan.h"
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
};

std::shared_ptr<const exir::BackendCompiler> make(const exir::CompileOptions& options) {
  return std::make_shared<VulkanCompiler>(options);
}

// "34 calls, 41 dispatches, 35 barriers, 1234 bytes of constants, 512 of arena (at least 480)"
std::string inspect(std::span<const uint8_t> payload) {
  PayloadGraph graph;
  Status status = graph.read({payload.data(), payload.size()}, nullptr);
  Plan plan;
  if (status.ok()) fuse(graph);
  if (status.ok()) status = plan.build(graph, Limits());
  if (!status.ok()) return status.message();
  size_t barriers = 0;
  for (const Dispatch& dispatch : plan.dispatches()) barriers += dispatch.barrier;
  return std::to_string(graph.calls.size()) + " calls, " +
         std::to_string(plan.dispatches().size()) + " dispatches, " + std::to_string(barriers) +
         " barriers, " + std::to_string(plan.constant_bytes()) + " bytes of constants, " +
         std::to_string(plan.arena_bytes()) + " of arena (at least " +
         std::to_string(plan.arena_bound()) + ")";
}

}  // namespace

extern const exir::CompilerDescriptor kCompiler;
const exir::CompilerDescriptor kCompiler = {
    kIdentity, kOptions, make, inspect, "run scripts/deps.sh vulkan, then build", {}};

}  // namespace taper::vulkan
