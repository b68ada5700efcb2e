// Inserts quantisation where the sites say so.
//
//     before   %y = aten::conv2d(%x, %w, %b)      after   %i = quantize_per_tensor(%x, s, z, ...)
//                                                         %j = dequantize_per_tensor(%i, s, z, ...)
//                                                         %v = dequantize_per_channel(%integers, ...)
//                                                         %y = aten::conv2d(%j, %v, %b)
//
// A tensor is quantised once, before its first reader; all its readers read the same result. A
// weight in float16 is cast before its readers; of an embedding, the rows that it gives are.

#include <cstring>
#include <set>

#include "exir/ir/rewrite.h"
#include "exir/quantize/plan.h"

namespace taper::exir {
namespace {

constexpr double kSmallestScale = 1.0 / 4096;  // As PyTorch's observers have it.

template <typename T>
TensorData data_of(const std::vector<T>& items) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(items.data());
  return own_bytes({bytes, bytes + items.size() * sizeof(T)});
}

TensorType type_of(ScalarType dtype, const std::vector<size_t>& sizes) {
  std::vector<Sym> dims;
  for (const size_t size : sizes) dims.emplace_back(static_cast<int64_t>(size));
  return TensorType(dtype, std::move(dims));
}

bool is_transpose(const Node& node) {
  return node.is("aten::t") || node.is("aten::permute") || node.is("aten::transpose.int");
}

class Applier {
 public:
  Applier(Graph& graph, const Sites& sites, const QuantPlan& plan) : graph_(graph) {
    for (const QuantLayer& layer : sites.layers) {
      const auto found = plan.layers.find(layer.name);
      if (found == plan.layers.end()) continue;
      const LayerPlan& planned = found->second;
      if (!planned.weight.halves.empty())
        halves_[layer.weight] = {&planned.weight, nullptr, nullptr};
      if (layer.kind != LayerKind::kStored) {
        layers_[layer.node] = {&layer, &planned};
      } else if (!planned.weight.integers.empty()) {
        stored_[layer.weight] = &planned.weight;
      }
    }
    for (const Value* value : graph.constants) fqns_.insert(value->fqn);
    for (const auto& [name, group] : sites.group_of) {
      const auto scale = plan.tensors.find(name);
      if (scale != plan.tensors.end()) scales_[name] = scale->second;
    }
  }

  void run() {
    rewrite(
        graph_, [&](Node& node, Rewriter& rewriter) { return visit(node, rewriter); },
        [&](Rewriter& rewriter) {
          for (Argument& output : graph_.outputs) output = quantised(output, rewriter);
        });
    erase_dead(graph_);
  }

 private:
  struct Planned {
    const QuantLayer* layer = nullptr;
    const LayerPlan* plan = nullptr;
  };

  bool visit(Node& node, Rewriter& rewriter) {
    if (node.schema->name.starts_with("quantized_decomposed::")) return false;
    if (node.is("aten::embedding") && look_up_halves(node, rewriter)) return true;
    for (Argument& arg : node.args) arg = quantised(arg, rewriter);
    const auto found = layers_.find(&node);
    if (found == layers_.end()) return false;
    const auto& [layer, plan] = found->second;
    if (plan->activations == Activations::kDynamic) quantise_in_each_run(*layer, node, rewriter);
    if (!plan->weight.integers.empty()) replace_weight(*layer, plan->weight, node, rewriter);
    if (!plan->bias.empty()) replace_bias(*layer, plan->bias, node);
    return false;
  }

  Argument quantised(const Argument& arg, Rewriter& rewriter) {
    if (arg.is_list()) {
      Argument::List items;
      for (const Argument& item : arg.list()) items.push_back(quantised(item, rewriter));
      return items;
    }
    if (!arg.is_value()) return arg;
    Value* value = arg.value();
    if (const auto half = halves_.find(value); half != halves_.end()) {
      Value*& floats = half->second.floats;
      if (floats == nullptr) floats = cast_to_float(in_halves(*value), rewriter);
      return floats;
    }
    if (const auto stored = stored_.find(value); stored != stored_.end()) {
      return floats_of(*value, *stored->second, rewriter);
    }
    if (const auto done = dequantised_.find(value); done != dequantised_.end()) return done->second;
    const auto scale = scales_.find(value->name);
    if (scale == scales_.end()) return arg;
    const TensorScale& s = scale->second;
    TensorType integers = value->type;
    integers.dtype = ScalarType::kChar;
    Value* bytes = rewriter.emit("quantized_decomposed::quantize_per_tensor",
                                 {value, s.scale, s.zero_point, s.low, s.high, ScalarType::kChar},
                                 {integers})[0];
    Value* floats = rewriter.emit("quantized_decomposed::dequantize_per_tensor",
                                  {bytes, s.scale, s.zero_point, s.low, s.high, ScalarType::kChar},
                                  {value->type})[0];
    dequantised_[value] = floats;
    return floats;
  }

  // The constant in float16.
  Value* in_halves(const Value& weight) {
    Halves& halves = halves_.at(&weight);
    if (halves.constant == nullptr) {
      halves.constant = constant(weight, "_half", {ScalarType::kHalf, weight.type.sizes},
                                 data_of(halves.weight->halves));
    }
    return halves.constant;
  }

  static Value* cast_to_float(Value* value, Rewriter& rewriter) {
    return rewriter.emit("aten::_to_copy", {value, ScalarType::kFloat},
                         {TensorType(ScalarType::kFloat, value->type.sizes)})[0];
  }

  // The rows of a table in float16 are cast, rather than the table.
  bool look_up_halves(Node& node, Rewriter& rewriter) {
    const Value* table = node.arg("weight").value();
    if (halves_.count(table) == 0) return false;
    std::vector<Argument> args = node.args;
    args[static_cast<size_t>(node.schema->find("weight"))] = in_halves(*table);
    Value* rows = rewriter.emit(node.target(), args,
                                {TensorType(ScalarType::kHalf, node.outputs[0]->type.sizes)})[0];
    rewriter.replace(node.outputs[0], cast_to_float(rows, rewriter));
    return true;
  }

  void quantise_in_each_run(const QuantLayer& layer, Node& node, Rewriter& rewriter) {
    Value*& floats = dynamic_[layer.input];
    if (floats == nullptr) {
      const TensorScale s;
      const auto params = rewriter.emit(
          "quantized_decomposed::choose_qparams.tensor",
          {layer.input, s.low, s.high, kSmallestScale, ScalarType::kChar},
          {TensorType(ScalarType::kDouble, {Sym(1)}), TensorType(ScalarType::kLong, {Sym(1)})});
      TensorType integers = layer.input->type;
      integers.dtype = ScalarType::kChar;
      Value* bytes = rewriter.emit(
          "quantized_decomposed::quantize_per_tensor.tensor",
          {layer.input, params[0], params[1], s.low, s.high, ScalarType::kChar}, {integers})[0];
      floats = rewriter.emit("quantized_decomposed::dequantize_per_tensor.tensor",
                             {bytes, params[0], params[1], s.low, s.high, ScalarType::kChar},
                             {layer.input->type})[0];
    }
    replace_argument(node, layer.input, floats);
  }

  static void replace_argument(Node& node, const Value* from, Value* to) {
    for (Argument& arg : node.args) {
      if (arg.is_value() && arg.value() == from) arg = to;
    }
  }

  Value* constant(const Value& like, const char* suffix, TensorType type, TensorData data) {
    Value* value = graph_.new_constant(like.name + suffix, std::move(type), std::move(data));
    value->fqn = like.fqn + suffix;
    // Layers that share a bias correct it differently.
    for (int i = 2; !fqns_.insert(value->fqn).second; ++i) {
      value->fqn = like.fqn + suffix + "_" + std::to_string(i);
    }
    return value;
  }

  // The weight as integers with scales, shared by all layers that read it.
  Value* floats_of(const Value& original, const QuantisedWeight& weight, Rewriter& rewriter) {
    Value*& floats = weights_[&original];
    if (floats != nullptr) return floats;
    TensorType type = original.type;
    type = TensorType(ScalarType::kChar, type.sizes);
    Value* integers = constant(original, "_int", type, data_of(weight.integers));
    const size_t rows =
        weight.group == 0 ? weight.scales.size() : static_cast<size_t>(type.sizes[0].as_int());
    std::vector<size_t> sizes = {rows};
    if (weight.group != 0) sizes.push_back(weight.scales.size() / rows);
    Value* scales =
        constant(original, "_scale", type_of(ScalarType::kFloat, sizes), data_of(weight.scales));
    const std::vector<int64_t> zeros(weight.scales.size(), 0);
    Value* zero_points =
        constant(original, "_zero_point", type_of(ScalarType::kLong, sizes), data_of(zeros));
    const TensorType result(ScalarType::kFloat, type.sizes);
    floats = weight.group == 0
                 ? rewriter.emit("quantized_decomposed::dequantize_per_channel",
                                 {integers, scales, zero_points, static_cast<int64_t>(weight.axis),
                                  weight.low, weight.high, ScalarType::kChar},
                                 {result})[0]
                 : rewriter.emit("quantized_decomposed::dequantize_per_channel_group",
                                 {integers, scales, zero_points, weight.low, weight.high,
                                  ScalarType::kChar, weight.group, ScalarType::kFloat},
                                 {result})[0];
    return floats;
  }

  void replace_weight(const QuantLayer& layer, const QuantisedWeight& weight, Node& node,
                      Rewriter& rewriter) {
    Value* floats = floats_of(*layer.weight, weight, rewriter);
    for (Argument& arg : node.args) {
      if (!arg.is_value()) continue;
      if (arg.value() == layer.weight) {
        arg = floats;
      } else if (arg.value()->producer != nullptr) {
        arg = turned(arg.value(), layer.weight, floats, rewriter);
      }
    }
  }

  // The same transposes of the new weight; another argument stays.
  Value* turned(Value* value, const Value* from, Value* to, Rewriter& rewriter) {
    const Node* node = value->producer;
    if (node == nullptr || !is_transpose(*node)) return value;
    Value* inner = node->args[0].value();
    Value* now = inner == from ? to : turned(inner, from, to, rewriter);
    if (now == inner) return value;
    Value*& made = turned_[value];
    if (made != nullptr) return made;
    std::vector<Argument> args = node->args;
    args[0] = now;
    made = rewriter.emit(node->target(), args, {value->type})[0];
    return made;
  }

  void replace_bias(const QuantLayer& layer, const std::vector<float>& bias, Node& node) {
    const Value& like = layer.bias != nullptr ? *layer.bias : *layer.weight;
    Value* value = constant(like, layer.bias != nullptr ? "_corrected" : "_bias",
                            type_of(ScalarType::kFloat, {bias.size()}), data_of(bias));
    const int at = node.schema->find(node.is("aten::addmm") ? "self" : "bias");
    if (at >= 0) node.args[static_cast<size_t>(at)] = value;
  }

  struct Halves {
    const QuantisedWeight* weight = nullptr;
    Value* constant = nullptr;
    Value* floats = nullptr;
  };

  Graph& graph_;
  std::set<std::string> fqns_;  // Taken by constants.
  std::map<const Value*, Halves> halves_;
  std::map<const Node*, Planned> layers_;
  std::map<const Value*, const QuantisedWeight*> stored_;
  std::map<std::string, TensorScale> scales_;
  std::map<const Value*, Value*> dequantised_, dynamic_, weights_, turned_;
};

}  // namespace

std::vector<float> row_major_floats(const Value& constant) {
  const TensorType& type = constant.type;
  const size_t count = constant.data.bytes / sizeof(float);
  std::vector<float> stored(count), out(count);
  if (count != 0) std::memcpy(stored.data(), constant.data.data, count * sizeof(float));
  if (type.is_contiguous()) return stored;
  // Where an index in row-major order lies in memory.
  std::vector<size_t> strides(type.rank(), 1), index(type.rank(), 0);
  size_t stride = 1;
  for (size_t i = type.rank(); i-- > 0;) {
    strides[type.dim_order[i]] = stride;
    stride *= static_cast<size_t>(type.sizes[type.dim_order[i]].as_int());
  }
  for (size_t i = 0, at = 0; i < count; ++i) {
    out[i] = stored[at];
    for (size_t d = type.rank(); d-- > 0;) {
      at += strides[d];
      if (++index[d] < static_cast<size_t>(type.sizes[d].as_int())) break;
      at -= strides[d] * index[d];
      index[d] = 0;
    }
  }
  return out;
}

void replace_constants(Graph& graph, const NewConstants& constants) {
  for (Value* value : graph.constants) {
    const auto found = constants.find(value->name);
    if (found == constants.end()) continue;
    value->type = TensorType(ScalarType::kFloat, value->type.sizes);
    value->data = data_of(found->second);
  }
}

void apply_plan(Graph& graph, const Sites& sites, const QuantPlan& plan) {
  Applier(graph, sites, plan).run();
}

}  // namespace taper::exir
