#include "backends/vulkan/aot/vulkan_compiler.h"

#include <algorithm>
#include <set>

#include "backends/vulkan/aot/payload_writer.h"
#include "backends/vulkan/descriptor.h"
#include "backends/vulkan/planner/fuse.h"
#include "backends/vulkan/planner/operators.h"
#include "backends/vulkan/planner/plan.h"
#include "exir/ir/failure.h"

namespace taper::vulkan {
namespace {

using exir::Graph;
using exir::Node;
using exir::Part;
using exir::Value;

std::string value_problem(const Value* value) {
  if (value->kind != exir::ValueKind::kTensor) return {};
  if (value->role == exir::ValueRole::kState) return "it reads a buffer that the program writes";
  if (!value->type.is_contiguous()) return "a tensor is not contiguous";
  switch (value->type.dtype) {
    case ScalarType::kFloat:
    case ScalarType::kBool:
    case ScalarType::kByte:
    case ScalarType::kChar:
    case ScalarType::kInt:
    case ScalarType::kLong:
      return {};
    default:
      return std::string("it computes with ") + to_string(value->type.dtype);
  }
}

// The tensors that a node reads, without constants, each once.
std::vector<Value*> inputs_of(const Node& node) {
  std::vector<Value*> inputs;
  exir::for_each_value(node, [&](Value* value) {
    const bool counts = value->kind == exir::ValueKind::kTensor &&
                        value->role != exir::ValueRole::kConstant &&
                        std::find(inputs.begin(), inputs.end(), value) == inputs.end();
    if (counts) inputs.push_back(value);
  });
  return inputs;
}

// Why the planner does not plan a payload; empty if it does.
std::string planning_problem(const exir::Delegate& delegate) {
  PayloadGraph graph;
  Status status = graph.read({delegate.payload.data(), delegate.payload.size()}, nullptr);
  Plan plan;
  if (status.ok()) fuse(graph);
  if (status.ok()) status = plan.build(graph, Limits());
  return status.message();
}

}  // namespace

VulkanCompiler::VulkanCompiler(const exir::CompileOptions& options)
    : BackendCompiler(kIdentity, options.specs()) {}

bool VulkanCompiler::keeps_whole(const Node& node, const Graph& graph) const {
  return refusal(node, graph).empty();
}

std::string VulkanCompiler::refusal(const Node& node, const Graph& graph) const {
  if (exir::is_refused(node) || find_operator(payload_name(node.target())) == nullptr) {
    return "Vulkan does not have it";
  }
  std::string problem;
  const auto check = [&](const Value* value) {
    if (problem.empty()) problem = value_problem(value);
  };
  exir::for_each_value(node, check);
  for (const Value* output : node.outputs) check(output);
  if (!problem.empty()) return problem;
  try {
    PayloadWriter writer(graph, inputs_of(node));
    writer.add(node);
    return planning_problem(writer.finish(node.outputs));
  } catch (const exir::Failure& failure) {
    return failure.what();
  }
}

bool VulkanCompiler::pays(const Part& part) const { return part.nodes.size() > 1; }

std::shared_ptr<exir::Delegate> VulkanCompiler::compile(const Part& part) const {
  PayloadWriter writer(*part.graph, part.inputs);
  for (const Node* node : part.nodes) writer.add(*node);
  auto delegate = std::make_shared<exir::Delegate>(writer.finish(part.outputs));
  const std::string problem = planning_problem(*delegate);
  if (!problem.empty()) throw exir::Failure("the Vulkan delegate does not plan it: " + problem);
  return delegate;
}

}  // namespace taper::vulkan
