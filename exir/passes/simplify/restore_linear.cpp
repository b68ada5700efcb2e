// Replaces products one at a time; a product and the scales after it are two steps.

#include "exir/passes/simplify/restore_linear.h"

#include <algorithm>
#include <unordered_map>

#include "exir/ir/rewrite.h"
#include "exir/ir/scales.h"
#include "exir/passes/simplify/byte_product.h"
#include "exir/passes/simplify/integer_constants.h"

namespace taper::exir {
namespace {

bool is_integers(const Argument& arg) {
  return arg.is_value() && arg.value()->scales != nullptr && arg.value()->type.rank() == 2;
}

bool has_bytes(const Argument& arg) {
  return arg.is_value() && bytes_of(*arg.value()) != nullptr && arg.value()->type.rank() == 2;
}

class LinearRestorer {
 public:
  explicit LinearRestorer(const Graph& graph) {
    const auto count = [&](const Value* value) { ++uses_[value]; };
    for (const auto& node : graph.nodes) for_each_value(*node, count);
    for (const Argument& output : graph.outputs) for_each_value(output, count);
    for (const Mutation& mutation : graph.mutations) count(mutation.source);
  }

  bool visit(Node& node, Rewriter& rewriter) {
    if (node.is("aten::permute_copy") && has_bytes(node.arg(0))) {
      turned_[node.outputs[0]] = node.arg(0).value();
      return false;
    }
    if (node.is("aten::mm")) {
      return replace(node, node.arg(0), node.arg(1), Argument(), rewriter);
    }
    const bool is_sum = node.is("aten::addmm") && node.arg("alpha").to_double() == 1 &&
                        node.arg("beta").to_double() == 1 &&
                        node.arg(0).value()->type.rank() == 1 &&
                        node.arg(0).value()->type.sizes[0] == node.outputs[0]->type.sizes[1];
    if (is_sum) return replace(node, node.arg(1), node.arg(2), node.arg(0), rewriter);
    if (const auto product = byte_product_of(node)) return restore(node, *product, rewriter);
    return restore_around(node, rewriter) ||
           (node.is("aten::mul.Tensor") && rescale(node, rewriter));
  }

 private:
  // What decompositions put around layers: matrices that are repeated for each batch, changes of
  // sizes, biases.
  bool restore_around(Node& node, Rewriter& rewriter) {
    if (node.is("aten::expand_copy") && node.arg(0).value()->type.rank() == 2) {
      repeated_[node.outputs[0]] = node.arg(0).value();
      return false;
    }
    if (node.is("aten::bmm")) {
      const Value* batches = before_views(node.arg(1).value());
      const auto found = repeated_.find(batches);
      return found != repeated_.end() && batches->type == node.arg(1).value()->type &&
             replace(node, node.arg(0), found->second, Argument(), rewriter);
    }
    if (node.is("aten::add.Tensor")) return add_bias(node, rewriter);
    return node.is("aten::view_copy") && drop_views(node, rewriter);
  }

  bool is_read_once(const Value* value) const {
    const auto uses = uses_.find(value);
    return uses != uses_.end() && uses->second == 1;
  }

  // The layer with weights of integers or codes whose result this is, if it is read once.
  const Node* layer_of(const Argument& arg) const {
    if (!arg.is_value() || arg.value()->producer == nullptr) return nullptr;
    const Node* layer = arg.value()->producer;
    const bool fits = layer->is("aten::linear") && has_bytes(layer->arg("weight"));
    return fits && is_read_once(arg.value()) ? layer : nullptr;
  }

  // The same layer, of other arguments.
  bool replace_layer(Node& node, const Argument& x, const Argument& weight, const Argument& bias,
                     Rewriter& rewriter) {
    Value* y = rewriter.emit("aten::linear", {x, weight, bias}, {node.outputs[0]->type})[0];
    uses_[y] = uses_[node.outputs[0]];
    rewriter.replace(node.outputs[0], y);
    return true;
  }

  // A constant that is added to a layer without bias.
  bool add_bias(Node& node, Rewriter& rewriter) {
    if (!node.arg("alpha").is<int64_t>() || node.arg("alpha").to_int() != 1) return false;
    for (const size_t i : {0, 1}) {
      const Node* layer = layer_of(node.arg(i));
      if (layer == nullptr || !layer->arg("bias").is_none() || !node.arg(1 - i).is_value())
        continue;
      const Value* bias = node.arg(1 - i).value();
      const bool fits = bias->role == ValueRole::kConstant && bias->scales == nullptr &&
                        bias->type.is_contiguous() && bias->type.rank() == 1 &&
                        bias->type.dtype == node.outputs[0]->type.dtype &&
                        bias->type.sizes[0] == layer->arg("weight").value()->type.sizes[0];
      if (!fits) continue;
      return replace_layer(node, layer->arg("input"), layer->arg("weight"), node.arg(1 - i),
                           rewriter);
    }
    return false;
  }

  // A layer of rows that were put into a matrix before it, and are put back behind it; or changes
  // of sizes behind a layer that change nothing together.
  bool drop_views(Node& node, Rewriter& rewriter) {
    Value* base = node.arg(0).value();
    while (base->producer != nullptr && base->producer->is("aten::view_copy") &&
           is_read_once(base)) {
      base = base->producer->arg(0).value();
    }
    if (layer_of(base) == nullptr) return false;
    const Node& layer = *base->producer;
    const TensorSizes& sizes = node.outputs[0]->type.sizes;
    if (base->type.sizes == sizes) {
      uses_[base] = uses_[node.outputs[0]];
      rewriter.replace(node.outputs[0], base);
      return true;
    }
    Value* x = layer.arg("input").value();
    if (x->producer == nullptr || !x->producer->is("aten::view_copy")) return false;
    Value* rows = x->producer->arg(0).value();
    std::vector<Sym> expected = rows->type.sizes;
    if (expected.empty() || !(expected.back() == x->type.sizes.back())) return false;
    expected.back() = base->type.sizes.back();
    return expected == sizes &&
           replace_layer(node, rows, layer.arg("weight"), layer.arg("bias"), rewriter);
  }

  // The weights [out, in] of a product with `right`, [in, out]; null if they are no integers.
  Value* weights_of(const Argument& right, Rewriter& rewriter) {
    const auto found = turned_.find(right.value());
    if (found != turned_.end()) return found->second;
    if (!is_integers(right)) return nullptr;
    Value* matrix = right.value();
    Value*& weights = weights_[matrix];
    if (weights != nullptr) return weights;
    const auto scales = transposed(*matrix->scales, matrix->type);
    if (scales == nullptr) return nullptr;
    weights = constant(rewriter, *matrix, scales, {matrix->type.sizes[1], matrix->type.sizes[0]});
    return weights;
  }

  static Value* constant(Rewriter& rewriter, const Value& from,
                         std::shared_ptr<const Scales> scales, std::vector<Sym> sizes) {
    const ScalarType dtype = from.scales == nullptr ? ScalarType::kFloat : from.type.dtype;
    Value* made = new_constant(rewriter.graph(), from.name, TensorType(dtype, std::move(sizes)),
                               std::move(scales));
    if (!from.fqn.empty()) made->fqn = from.fqn + "." + made->name;
    return made;
  }

  bool replace(Node& node, const Argument& x, const Argument& right, const Argument& bias,
               Rewriter& rewriter) {
    Value* weights = weights_of(right, rewriter);
    return weights != nullptr && replace_layer(node, x, weights, bias, rewriter);
  }

  // Whether `layer` is the result of a layer that is read once and whose weights have no scales.
  bool has_bare_weights(const Argument& layer) const {
    if (!layer.is_value() || layer.value()->producer == nullptr) return false;
    const Node& made = *layer.value()->producer;
    if (!made.is("aten::linear") || !made.arg("bias").is_none()) return false;
    if (!is_integers(made.arg("weight"))) return false;
    const std::vector<float>& items = made.arg("weight").value()->scales->items;
    const auto uses = uses_.find(layer.value());
    return uses != uses_.end() && uses->second == 1 &&
           std::all_of(items.begin(), items.end(), [](float item) { return item == 1; });
  }

  // Moves factors of the columns of a layer's result into its weights.
  bool rescale(Node& node, Rewriter& rewriter) {
    if (!has_bare_weights(node.arg(0)) || !node.arg(1).is_value()) return false;
    const Node& layer = *node.arg(0).value()->producer;
    const Value &weights = *layer.arg("weight").value(), &factors = *node.arg(1).value();
    const TensorType& type = factors.type;
    const auto channels = static_cast<size_t>(weights.type.sizes[0].as_int());
    const bool fits = factors.role == ValueRole::kConstant && type.dtype == weights.type.dtype &&
                      type.is_contiguous() && type.rank() >= 1 && type.rank() <= 2 &&
                      type.sizes.back() == weights.type.sizes[0] &&
                      type.numel() == weights.type.sizes[0] && weights.scales->zero_points.empty();
    if (!fits) return false;
    auto scales = std::make_shared<Scales>(*weights.scales);
    scales->items = floats_of(factors);
    scales->span = scales->integers.bytes / std::max<size_t>(1, channels);
    if (scales->span == 0 || scales->items.size() != channels) return false;
    Value* scaled = constant(rewriter, weights, scales, weights.type.sizes);
    return replace_layer(node, layer.arg("input"), scaled, Argument(), rewriter);
  }

  // Whether the product takes off the zero points with which its rows were quantised.
  static bool has_zero_points(const ByteProduct& product, const Node& there, const Node& choice) {
    const Argument& points = there.arg("zero_point");
    const Value* chosen = choice.outputs[1];
    if (product.zero_points != nullptr) {
      return points.is_value() && points.value() == chosen &&
             before_views(product.zero_points) == chosen;
    }
    return points.is_none() || (points.value() == chosen && chooses_zeros(choice));
  }

  // Whether all zero points are zero.
  static bool chooses_zeros(const Node& choice) {
    const Argument &least = choice.arg("quant_min"), &most = choice.arg("quant_max");
    const bool is_whole = least.is_none() && most.is_none();
    const bool is_even = least.is_int() && most.is_int() &&
                         (least.to_int() + most.to_int() == -1 || least.to_int() == -most.to_int());
    return choice.arg("mapping_type").text() != "ASYMMETRIC" && (is_whole || is_even);
  }

  // A layer whose input is dequantised by the operator that backends and kernels recognise, if it
  // was quantised by its counterpart.
  bool restore(Node& node, const ByteProduct& product, Rewriter& rewriter) {
    const Value& matrix = *product.weights;
    Scales bytes;
    bytes.items = floats_of(*product.factors);
    bytes.span = bytes.items.size() == 1 ? matrix.data.bytes : 1;
    bytes.integers = matrix.data;
    bytes.bits = bits_of(matrix.data, ScalarType::kChar);
    const auto scales = transposed(bytes, matrix.type);
    if (scales == nullptr) return false;
    Value* weights =
        constant(rewriter, matrix, scales, {matrix.type.sizes[1], matrix.type.sizes[0]});
    Value *q = before_views(product.integers), *s = before_views(product.scales);
    const Node *there = q->producer, *choice = s->producer;
    const bool is_whole = there != nullptr && there->is("torchao::quantize_affine") &&
                          choice != nullptr && choice->is("torchao::choose_qparams_affine") &&
                          there->arg("scale").is_value() && there->arg("scale").value() == s &&
                          has_zero_points(product, *there, *choice);
    if (!is_whole) return false;
    TensorType type(ScalarType::kFloat, q->type.sizes);
    Value* x = rewriter.emit("torchao::dequantize_affine",
                             {q, there->arg("block_size"), s, there->arg("zero_point"),
                              ScalarType::kChar, there->arg("quant_min"), there->arg("quant_max")},
                             {type})[0];
    type.sizes.back() = matrix.type.sizes[1];
    Value* y = rewriter.emit("aten::linear", {x, weights, Argument()}, {type})[0];
    uses_[y] = uses_[node.outputs[0]];
    if (!(type == node.outputs[0]->type)) {
      Argument::List sizes;  // Only the number of rows may be dynamic.
      for (const Sym& size : node.outputs[0]->type.sizes) {
        sizes.push_back(size.is_int() ? size.as_int() : -1);
      }
      uses_[y] = 1;
      y = rewriter.emit("aten::view_copy", {y, sizes}, {node.outputs[0]->type})[0];
      uses_[y] = uses_[node.outputs[0]];
    }
    rewriter.replace(node.outputs[0], y);
    return true;
  }

  std::unordered_map<const Value*, int> uses_;
  std::unordered_map<const Value*, Value*> turned_;    // Transposes to the matrices.
  std::unordered_map<const Value*, Value*> repeated_;  // Batches to the matrix of which they are.
  std::unordered_map<const Value*, Value*> weights_;   // Matrices to their transposes.
};

}  // namespace

int restore_linear(Graph& graph) {
  LinearRestorer restorer(graph);
  const int count = rewrite(
      graph, [&](Node& node, Rewriter& rewriter) { return restorer.visit(node, rewriter); });
  if (count != 0) erase_dead(graph);
  return count;
}

}  // namespace taper::exir
