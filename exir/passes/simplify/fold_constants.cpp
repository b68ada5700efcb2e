// Runs each node whose arguments are all constants, unless its results are large and larger than
// its arguments.

#include "exir/passes/simplify/fold_constants.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_map>

#include "exir/ir/registry.h"
#include "exir/ir/rewrite.h"
#include "exir/ops/facts.h"
#include "exir/passes/kernels/run_kernel.h"

namespace taper::exir {
namespace {

// Results up to this size are folded even if they are larger than the arguments.
constexpr size_t kFreeBytes = size_t{1} << 20;

// The same for operators without tensor arguments, such as full, whose call is much smaller than
// its result.
constexpr size_t kFreeBytesOfNothing = size_t{1} << 16;

size_t bytes_of(const TensorType& type) {
  size_t bytes = element_size(type.dtype);
  for (const Sym& size : type.sizes) {
    if (__builtin_mul_overflow(bytes, static_cast<size_t>(size.as_int()), &bytes)) return SIZE_MAX;
  }
  return bytes;
}

bool is_foldable(const Node& node, const OperatorRegistry& operators) {
  if (node.outputs.empty() || node.schema->mutates()) return false;
  if (operators.tags(node.target()).random) return false;
  // The contents of empty() are undefined; folding would define them.
  if (node.target().find("empty") != std::string_view::npos) return false;
  const bool open = std::any_of(node.outputs.begin(), node.outputs.end(), [](const Value* output) {
    return output->kind != ValueKind::kTensor || !output->type.is_static();
  });
  bool known = !open;
  for (const Argument& arg : node.args) known = known && !arg.is<std::shared_ptr<Graph>>();
  for_each_value(node, [&](const Value* value) {
    known = known && (value->kind == ValueKind::kTensor ? value->role == ValueRole::kConstant
                                                        : value->sym.is_int());
  });
  return known;
}

constexpr char kGroups[] = "quantized_decomposed::dequantize_per_channel_group";

bool is_dequantised(const Node& node) {
  return node.target() == "quantized_decomposed::dequantize_per_channel" ||
         node.target() == "quantized_decomposed::dequantize_per_tensor";
}

bool is_worth_it(const Node& node) {
  size_t in = 0, out = 0;
  for_each_value(node, [&](const Value* value) {
    if (value->kind == ValueKind::kTensor) in += value->data.bytes;
  });
  for (const Value* output : node.outputs) {
    const size_t bytes = bytes_of(output->type);
    if (__builtin_add_overflow(out, bytes, &out)) return false;
  }
  return out <= in || out <= (in == 0 ? kFreeBytesOfNothing : kFreeBytes);
}

// "fc.weight" permuted is "fc.weight.permute_copy_2".
std::string derived_name(const Node& node, const Value& constant) {
  std::string from;
  for_each_value(node, [&](const Value* value) {
    if (from.empty()) from = value->fqn;
  });
  return from.empty() ? "" : from + "." + constant.name;
}

// How many bits the integers take, of those that scales are told of.
int64_t bits_of(const TensorData& integers) {
  const auto is_wide = [](uint8_t byte) {
    const auto integer = static_cast<int8_t>(byte);
    return integer < -8 || integer > 7;
  };
  return std::any_of(integers.data, integers.data + integers.bytes, is_wide) ? 8 : 4;
}

// The scales with which the node dequantises; null if a zero point is not 0 or the input not int8.
std::shared_ptr<const Scales> scales_of(const Node& node) {
  const bool has_groups = node.target() == kGroups;
  if ((!is_dequantised(node) && !has_groups) ||
      node.arg(0).value()->type.dtype != ScalarType::kChar)
    return nullptr;
  if (node.outputs[0]->type.dtype != ScalarType::kFloat) return nullptr;
  auto scales = std::make_shared<Scales>();
  scales->integers = node.arg(0).value()->data;
  scales->bits = bits_of(scales->integers);
  if (node.target() == "quantized_decomposed::dequantize_per_tensor") {
    if (node.arg("zero_point").to_int() != 0) return nullptr;
    scales->items = {static_cast<float>(node.arg("scale").to_double())};
    return scales;
  }
  const Value* given = node.arg("scales").value();
  const Argument& zero_points = node.arg("zero_points");
  if (given->type.dtype != ScalarType::kFloat && given->type.dtype != ScalarType::kDouble) {
    return nullptr;
  }
  for (size_t i = 0; !zero_points.is_none() && i < zero_points.value()->data.bytes; ++i) {
    if (zero_points.value()->data.data[i] != 0) return nullptr;
  }
  const bool is_double = given->type.dtype == ScalarType::kDouble;
  const size_t size = is_double ? sizeof(double) : sizeof(float);
  for (size_t at = 0; at < given->data.bytes; at += size) {
    double wide = 0;
    float narrow = 0;
    std::memcpy(is_double ? static_cast<void*>(&wide) : &narrow, given->data.data + at, size);
    scales->items.push_back(is_double ? static_cast<float>(wide) : narrow);
  }
  if (has_groups) {
    scales->group = node.arg("group_size").to_int();
  } else {
    scales->dim = static_cast<size_t>(node.arg("axis").to_int());
  }
  return scales;
}

// Dequantises an int8 matrix with a scale for each group of a row, for which there is no kernel.
// nullopt for other types and shapes, or if a zero point is not 0.
std::optional<std::vector<TensorData>> dequantised_groups(const Node& node) {
  const Value *bytes = node.arg("input").value(), *scales = node.arg("scales").value();
  const Argument& zero_points = node.arg("zero_points");
  const int64_t group = node.arg("group_size").to_int();
  if (bytes->type.dtype != ScalarType::kChar || scales->type.dtype != ScalarType::kFloat ||
      node.outputs[0]->type.dtype != ScalarType::kFloat || group < 1 || bytes->type.rank() != 2 ||
      bytes->data.bytes / static_cast<size_t>(group) * sizeof(float) != scales->data.bytes ||
      bytes->type.sizes[1].as_int() % group != 0) {
    return std::nullopt;
  }
  for (size_t i = 0; !zero_points.is_none() && i < zero_points.value()->data.bytes; ++i) {
    if (zero_points.value()->data.data[i] != 0) return std::nullopt;
  }
  std::vector<uint8_t> out(bytes->data.bytes * sizeof(float));
  for (size_t i = 0; i < bytes->data.bytes; ++i) {
    float scale = 0;
    std::memcpy(&scale, scales->data.data + i / static_cast<size_t>(group) * sizeof(float),
                sizeof(scale));
    const float number = static_cast<float>(static_cast<int8_t>(bytes->data.data[i])) * scale;
    std::memcpy(&out[i * sizeof(float)], &number, sizeof(number));
  }
  std::vector<TensorData> results;
  results.push_back(own_bytes(std::move(out)));
  return results;
}

// True if the result has the same bytes with other sizes, so that nothing is copied. REQUIRES:
// is_foldable(node).
bool is_reshape(const Node& node) {
  if (!facts_of(node.target()).is(kReshapes)) return false;
  const Value *from = node.arg(0).value(), *to = node.outputs[0];
  return from->type.dtype == to->type.dtype && from->type.is_contiguous() &&
         to->type.is_contiguous() && from->data.bytes == bytes_of(to->type);
}

std::vector<TensorData> same_data(const Node& node) {
  const TensorData& data = node.arg(0).value()->data;
  return {TensorData{data.data, data.bytes, data.owner}};
}

const TensorData* constant_data(const Value* value) {
  return value->role == ValueRole::kConstant ? &value->data : nullptr;
}

// Frees each intermediate result after its last use. A large weight may go through several nodes,
// whose results would otherwise all be in memory at the end of the walk.
class Intermediates {
 public:
  explicit Intermediates(const Graph& graph) {
    const auto count = [&](Value* value) { ++uses_[value]; };
    for (const auto& node : graph.nodes) for_each_value(*node, count);
    for (const Argument& output : graph.outputs) for_each_value(output, count);
    for (const Mutation& mutation : graph.mutations) count(mutation.source);
  }

  // `constant` takes over the uses of `result`.
  void add(const Value* result, Value* constant) { left_[constant] = uses_[result]; }

  // `node`, which read constants, has been replaced.
  void erase(const Node& node) {
    for_each_value(node, [&](Value* value) {
      const auto found = left_.find(value);
      if (found != left_.end() && --found->second == 0) value->data = {};
    });
  }

 private:
  std::unordered_map<const Value*, size_t> uses_;
  std::unordered_map<const Value*, size_t> left_;
};

}  // namespace

int fold_constants(Graph& graph, bool float_weights) {
  Intermediates intermediates(graph);
  const int folded = rewrite(graph, [&](Node& node, Rewriter& rewriter) {
    if (!is_foldable(node, *graph.operators())) return false;
    const bool has_groups = float_weights && node.target() == kGroups;
    if (!is_worth_it(node) && !has_groups && !(float_weights && is_dequantised(node))) return false;
    const auto results = has_groups         ? dequantised_groups(node)
                         : is_reshape(node) ? same_data(node)
                                            : run_kernel(node, constant_data);
    if (!results) return false;
    for (size_t i = 0; i < results->size(); ++i) {
      const Value* output = node.outputs[i];
      Value* constant = rewriter.graph().new_constant(output->name, output->type, (*results)[i]);
      constant->fqn = derived_name(node, *constant);
      constant->scales = scales_of(node);
      intermediates.add(output, constant);
      rewriter.replace(node.outputs[i], constant);
    }
    intermediates.erase(node);
    return true;
  });
  if (folded != 0) erase_dead(graph);
  return folded;
}

}  // namespace taper::exir
