#include "backends/vulkan/aot/vulkan_compiler.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "backends/vulkan/aot/executorch_payload.h"
#include "backends/vulkan/aot/payload_writer.h"
#include "backends/vulkan/descriptor.h"
#include "backends/vulkan/planner/fuse.h"
#include "backends/vulkan/planner/operators.h"
#include "backends/vulkan/planner/plan.h"
#include "exir/ir/failure.h"
#include "exir/ir/scales.h"

namespace taper::vulkan {
namespace {

using exir::Graph;
using exir::Node;
using exir::Part;
using exir::Value;

// The GPU has them in 32 bits.
bool fits_32_bits(const exir::TensorData& integers) {
  for (size_t at = 0; at + sizeof(int64_t) <= integers.bytes; at += sizeof(int64_t)) {
    int64_t element;
    std::memcpy(&element, integers.data + at, sizeof(element));
    if (element != static_cast<int32_t>(element)) return false;
  }
  return true;
}

// A product adds what is 0 times a weight where a window of a transposed convolution has a gap.
std::string weight_problem(const Node& node) {
  // The whole table would become floats in each call.
  if (node.is("aten::embedding") && stays_integers(node.args[0].value()) &&
      !has_packed_form(node)) {
    return "a kernel looks up rows of integers in this form";
  }
  if (!node.is("aten::convolution") || !node.args[6].to_bool()) return {};
  const Value* weight = node.args[1].value();
  if (weight->role != exir::ValueRole::kConstant) {
    return "the weight of a transposed convolution is not a constant";
  }
  if (weight->type.dtype != ScalarType::kFloat) return {};
  const exir::TensorData data = exir::elements_of(*weight);
  for (size_t at = 0; at + sizeof(float) <= data.bytes; at += sizeof(float)) {
    float element;
    std::memcpy(&element, data.data + at, sizeof(element));
    if (!std::isfinite(element)) return "a weight of a transposed convolution is not finite";
  }
  return {};
}

bool are_floats(const exir::TensorData& doubles) {
  for (size_t at = 0; at + sizeof(double) <= doubles.bytes; at += sizeof(double)) {
    double element;
    std::memcpy(&element, doubles.data + at, sizeof(element));
    if (element != static_cast<double>(static_cast<float>(element))) return false;
  }
  return true;
}

std::string value_problem(const Value* value) {
  if (value->kind != exir::ValueKind::kTensor) return {};
  if (!value->type.is_contiguous()) return "a tensor is not contiguous";
  if (value->role == exir::ValueRole::kConstant && value->type.dtype == ScalarType::kLong &&
      !fits_32_bits(value->data)) {
    return "a constant does not fit into 32 bits";
  }
  if (value->role == exir::ValueRole::kConstant && value->type.dtype == ScalarType::kDouble &&
      !are_floats(value->data)) {
    return "a constant does not fit into float32";
  }
  switch (value->type.dtype) {
    case ScalarType::kFloat:
    case ScalarType::kDouble:  // Scales; the planner refuses all others.
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

// The tensors that a node reads, without constants, each once. A state counts as an input here.
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

int64_t most_elements(const Value* value, const Graph& graph) {
  int64_t count = 1;
  for (const exir::Sym& size : value->type.sizes) {
    if (__builtin_mul_overflow(count, size.range(graph.ranges).max, &count)) return INT64_MAX;
  }
  return count;
}

// Why the planner does not plan a payload; empty if it does.
std::string planning_problem(const exir::Delegate& delegate, bool in_half) {
  PayloadGraph graph;
  Status status = graph.read({delegate.payload.data(), delegate.payload.size()}, nullptr);
  graph.in_half = in_half;
  Plan plan;
  if (status.ok()) fuse(graph);
  if (status.ok()) status = plan.build(graph, Limits());
  return status.message();
}

// Whether neither its results nor its arguments depend on sizes, or on numbers that are data.
bool has_known_sizes(const Node& node) {
  bool known = node.outputs[0]->type.is_static();
  exir::for_each_value(node, [&](const Value* value) {
    known = known && (value->kind == exir::ValueKind::kTensor || value->sym.is_int());
  });
  return known;
}

// The nodes that read states which the group does not own.
std::vector<exir::Misfit> readers_of_states(const Part& part) {
  std::vector<exir::Misfit> readers;
  for (const Node* node : part.nodes) {
    bool reads = false;
    exir::for_each_value(*node, [&](const Value* value) {
      reads =
          reads || (value->role == exir::ValueRole::kState &&
                    std::find(part.inputs.begin(), part.inputs.end(), value) != part.inputs.end());
    });
    if (reads) readers.push_back({node, "it reads a buffer that the program writes"});
  }
  return readers;
}

}  // namespace

VulkanCompiler::VulkanCompiler(const exir::CompileOptions& options, bool for_executorch)
    : BackendCompiler(kIdentity, options.specs()),
      options_(options),
      min_elements_(options[kMinElements]),
      in_half_(options[kForceHalf] != 0),
      for_executorch_(for_executorch) {}

std::shared_ptr<const exir::BackendCompiler> VulkanCompiler::for_executorch() const {
  return std::make_shared<VulkanCompiler>(options_, true);
}

// Makes the payload of a node one for ExecuTorch's runtime.
std::string VulkanCompiler::executorch_refusal(const Node& node, exir::Delegate& delegate) const {
  make_executorch_payload(delegate);
  const bool is_static = std::all_of(node.outputs.begin(), node.outputs.end(),
                                     [](const Value* value) { return value->type.is_static(); });
  return is_static ? "" : executorch_resize_problem(delegate.payload);
}

// Weights are folded, so that they stay integers.
bool VulkanCompiler::keeps_whole(const Node& node, const Graph& graph) const {
  if (node.is("torchao::dequantize_affine") &&
      node.args[0].value()->role == exir::ValueRole::kConstant) {
    return false;
  }
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
  if (problem.empty()) problem = weight_problem(node);
  if (!problem.empty()) return problem;
  try {
    PayloadWriter writer(graph, inputs_of(node), Purpose::kPlan);
    if (for_executorch_) writer.write_floats();
    writer.add(node);
    exir::Delegate delegate = writer.finish(node.outputs);
    if (for_executorch_) problem = executorch_refusal(node, delegate);
    return problem.empty() ? planning_problem(delegate, in_half_) : problem;
  } catch (const exir::Failure& failure) {
    return failure.what();
  }
}

// A call costs a copy to the GPU and back. Products pay for it; all else does where it is long.
bool VulkanCompiler::pays(const Part& part) const {
  int64_t elements = 0;
  for (const Node* node : part.nodes) {
    if (find_operator(payload_name(node->target()))->is_product) return true;
    elements += std::min(most_elements(node->outputs[0], *part.graph), min_elements_);
  }
  return elements >= min_elements_;
}

// Sizes that the tensors of the group do not say, and what the planner does not take with those
// that they say.
// A buffer that other nodes read or write, too, is not taken.
std::vector<exir::Misfit> VulkanCompiler::misfits(const Part& part) const {
  std::vector<exir::Misfit> readers = readers_of_states(part);
  if (!readers.empty()) return readers;
  const bool all_known = std::all_of(part.nodes.begin(), part.nodes.end(),
                                     [](const Node* node) { return has_known_sizes(*node); });
  if (all_known && part.states.empty()) return {};
  PayloadWriter writer(*part.graph, part.inputs);
  if (for_executorch_) writer.write_floats();
  writer.add_states(part);
  std::vector<size_t> ends;  // How many calls there are after each node.
  for (const Node* node : part.nodes) {
    try {
      writer.add(*node);
    } catch (const exir::Failure& failure) {
      return {{node, failure.what()}};
    }
    ends.push_back(writer.num_calls());
  }
  const exir::Delegate delegate = writer.finish(part.outputs);
  PayloadGraph graph;
  Status status = graph.read({delegate.payload.data(), delegate.payload.size()}, nullptr);
  Plan plan;
  if (status.ok()) status = plan.build(graph, Limits());
  if (status.ok()) return {};
  const size_t behind = plan.current_call() - std::min<size_t>(plan.current_call(), ends.back());
  if (plan.current_call() >= ends.back() && behind < writer.copied().size()) {
    return {{writer.copied()[behind].source->producer, status.message()}};
  }
  const auto end = std::upper_bound(ends.begin(), ends.end(), plan.current_call());
  const auto at = std::min<size_t>(static_cast<size_t>(end - ends.begin()), part.nodes.size() - 1);
  return {{part.nodes[at], status.message()}};
}

std::shared_ptr<exir::Delegate> VulkanCompiler::compile(const Part& part) const {
  PayloadWriter writer(*part.graph, part.inputs);
  if (for_executorch_) writer.write_floats();
  writer.add_states(part);
  for (size_t i = 0; i < part.nodes.size(); ++i) {
    writer.set_origin(i);
    writer.add(*part.nodes[i]);
  }
  auto delegate = std::make_shared<exir::Delegate>(writer.finish(part.outputs));
  if (for_executorch_) {
    make_executorch_payload(*delegate);
    const std::string wrong = executorch_problem(delegate->payload);
    if (!wrong.empty()) throw exir::Failure("ExecuTorch's runtime would not run it: " + wrong);
  }
  const std::string problem = planning_problem(*delegate, in_half_);
  if (!problem.empty()) throw exir::Failure("the Vulkan delegate does not plan it: " + problem);
  return delegate;
}

}  // namespace taper::vulkan
