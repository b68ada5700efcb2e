// Runs each node whose arguments are all constants, unless its results are large and larger than
// its arguments.

#include "exir/passes/simplify/fold_constants.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "exir/ir/registry.h"
#include "exir/ir/rewrite.h"
#include "exir/ir/scales.h"
#include "exir/ops/facts.h"
#include "exir/passes/kernels/run_kernel.h"
#include "exir/passes/simplify/integer_constants.h"
#include "kernels_portable/engine/convert.h"

namespace taper::exir {
namespace {

// Results up to this size are folded even if they are larger than the arguments.
constexpr size_t kFreeBytes = size_t{1} << 20;

// The same for operators without tensor arguments, such as full, whose call is much smaller than
// its result.
constexpr size_t kFreeBytesOfNothing = size_t{1} << 16;

// Weights up to this size become floats.
constexpr size_t kSmallWeight = size_t{1} << 10;

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

// float16 -> float32.
bool is_widening(const Node& node) {
  return node.is("dim_order_ops::_to_dim_order_copy") &&
         node.arg(0).value()->type.dtype == ScalarType::kHalf &&
         node.outputs[0]->type.dtype == ScalarType::kFloat;
}

// "fc.weight" permuted is "fc.weight.permute_copy_2".
std::string derived_name(const Node& node, const Value& constant) {
  std::string from;
  for_each_value(node, [&](const Value* value) {
    if (from.empty()) from = value->fqn;
  });
  return from.empty() ? "" : from + "." + constant.name;
}

// True if the result has the same bytes with other sizes, so that nothing is copied. REQUIRES:
// is_foldable(node).
bool is_reshape(const Node& node) {
  if (!facts_of(node.target()).is(kReshapes)) return false;
  const Value *from = node.arg(0).value(), *to = node.outputs[0];
  return from->type.dtype == to->type.dtype && from->type.is_contiguous() &&
         to->type.is_contiguous() && from->data.bytes == bytes_of(to->type);
}

std::optional<std::vector<TensorData>> same_data(const Node& node) {
  const TensorData data = elements_of(*node.arg(0).value());
  return std::vector<TensorData>{TensorData{data.data, data.bytes, data.owner}};
}

std::optional<std::vector<TensorData>> computed(const Node& node) {
  std::deque<TensorData> elements;
  return run_kernel(node, [&](const Value* value) -> const TensorData* {
    if (value->role != ValueRole::kConstant) return nullptr;
    if (value->scales == nullptr) return &value->data;
    elements.push_back(elements_of(*value));
    return &elements.back();
  });
}

// The products that read a transposed matrix of integers will read the matrix itself.
bool is_turned_matrix(const Node& node, const std::unordered_set<const Value*>& read_elsewhere) {
  if (!node.is("aten::permute_copy") || node.arg(0).value()->type.rank() != 2) return false;
  const Value* matrix = node.arg(0).value();
  return matrix->scales != nullptr ||
         (matrix->codes != nullptr && read_elsewhere.count(node.outputs[0]) == 0);
}

// The values that nodes other than products read, and outputs.
std::unordered_set<const Value*> read_beside_products(const Graph& graph) {
  std::unordered_set<const Value*> found;
  const auto add = [&](const Value* value) { found.insert(value); };
  for (const auto& node : graph.nodes) {
    if (!node->is("aten::mm") && !node->is("aten::addmm")) for_each_value(*node, add);
  }
  for (const Argument& output : graph.outputs) for_each_value(output, add);
  for (const Mutation& mutation : graph.mutations) add(mutation.source);
  return found;
}

// Whether large floats are computed of as many elements that the program stores in fewer bits.
bool widens_elements(const Node& node, const std::unordered_set<const Value*>& widened) {
  const TensorType& type = node.outputs[0]->type;
  if (!is_floating(type.dtype) || bytes_of(type) <= kSmallWeight) return false;
  bool any = false;
  for_each_value(node, [&](const Value* value) {
    if (value->kind != ValueKind::kTensor || value->type.dtype == ScalarType::kBool) return;
    const bool is_narrower = value->scales != nullptr || value->halves.data != nullptr ||
                             element_size(value->type.dtype) < element_size(type.dtype);
    any = any || widened.count(value) != 0 || (is_narrower && value->type.numel() == type.numel());
  });
  return any;
}

// The float16 elements of a constant that a node casts to float32, or moves after such a cast; no
// data if there are none. Backends need constants of float32, which kernels need not: pack_weights
// undoes the cast.
TensorData halves_of(const Node& node, const TensorData& result) {
  const Value* from = node.arg(0).is_value() ? node.arg(0).value() : nullptr;
  if (is_widening(node)) return from->data;
  const bool moves = node.is("aten::permute_copy") || is_reshape(node);
  if (!moves || from->halves.data == nullptr) return {};
  std::vector<uint8_t> bytes(from->halves.bytes);
  portable::storer<float>(ScalarType::kHalf)(reinterpret_cast<const float*>(result.data),
                                             static_cast<int64_t>(bytes.size() / 2), bytes.data(),
                                             1);
  return own_bytes(std::move(bytes));
}

// The nodes that make floats of the packed weights of LSTM and GRU layers. They stay: the kernels
// of these layers take floats, but the integers take a quarter of the bytes.
std::unordered_set<const Node*> makers_of_weights(const Graph& graph) {
  std::unordered_set<const Node*> makers;
  for (const auto& node : graph.nodes) {
    if (!node->is("taper::lstm") && !node->is("taper::gru")) continue;
    const Value* weight = node->arg("weight").value();
    if (weight->type.dtype != ScalarType::kFloat) continue;
    if (bytes_of(weight->type) <= kSmallWeight) continue;
    for (const Node* maker = weight->producer;
         maker != nullptr && (maker->is("aten::mul.Tensor") || maker->is("aten::sub.Tensor") ||
                              maker->is("dim_order_ops::_to_dim_order_copy"));
         maker = maker->arg(0).value()->producer) {
      makers.insert(maker);
    }
  }
  return makers;
}

// The scales and zero points of weights, as the operators that dequantise read them: what converts
// or reshapes them is computed at once, since weights stay integers only if these are constants.
std::unordered_set<const Value*> quantisers_of(const Graph& graph) {
  std::unordered_set<const Value*> found;
  for (auto each = graph.nodes.rbegin(); each != graph.nodes.rend(); ++each) {
    const Node& node = **each;
    const bool dequantises = node.target().starts_with("quantized_decomposed::dequantize_");
    const bool converts = node.outputs.size() == 1 && found.count(node.outputs[0]) != 0;
    const Value* weights = dequantises ? node.arg("input").value() : nullptr;
    if (!dequantises && !converts) continue;
    for_each_value(node, [&](const Value* value) {
      if (value != weights) found.insert(value);
    });
  }
  return found;
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

int fold_constants(Graph& graph, std::unordered_set<const Value*>& widened) {
  Intermediates intermediates(graph);
  const auto stays = makers_of_weights(graph);
  const auto quantisers = quantisers_of(graph);
  const auto read_elsewhere = read_beside_products(graph);
  const int folded = rewrite(graph, [&](Node& node, Rewriter& rewriter) {
    if (stays.count(&node) != 0 || !is_foldable(node, *graph.operators())) return false;
    const auto put = [&](size_t i, Value* constant) {
      constant->fqn = derived_name(node, *constant);
      intermediates.add(node.outputs[i], constant);
      rewriter.replace(node.outputs[i], constant);
    };
    const Value* output = node.outputs[0];
    if (const auto scales = integers_of(node)) {
      put(0, new_constant(rewriter.graph(), output->name, output->type, scales));
      intermediates.erase(node);
      return true;
    }
    const bool is_wanted = is_widening(node) || looks_up_few(node) ||
                           quantisers.count(output) != 0 || is_worth_it(node);
    if (!is_wanted || is_turned_matrix(node, read_elsewhere)) return false;
    const auto results = is_reshape(node) ? same_data(node) : computed(node);
    if (!results) return false;
    for (size_t i = 0; i < results->size(); ++i) {
      const Value* each = node.outputs[i];
      Value* constant = rewriter.graph().new_constant(each->name, each->type, (*results)[i]);
      constant->halves = halves_of(node, (*results)[i]);
      constant->codes = codes_of(node, (*results)[i]);
      const bool is_kept = constant->halves.data != nullptr || constant->codes != nullptr;
      if (!is_kept && widens_elements(node, widened)) widened.insert(constant);
      put(i, constant);
    }
    intermediates.erase(node);
    return true;
  });
  if (folded != 0) erase_dead(graph);
  return folded;
}

int fold_constants(Graph& graph) {
  std::unordered_set<const Value*> widened;
  return fold_constants(graph, widened);
}

}  // namespace taper::exir
