// The rules for quantising and dequantising. compute_in_bytes turns the nodes between the Converts
// that are emitted here into int8 nodes.

#include <algorithm>
#include <cmath>

#include "backends/xnnpack/aot/bytes/wide_weights.h"
#include "backends/xnnpack/aot/op_table.h"
#include "backends/xnnpack/aot/weight_forms.h"
#include "exir/ir/blocks.h"
#include "exir/ir/scales.h"

namespace taper::xnnpack {
namespace {

using exir::Argument;
using exir::Graph;
using exir::Node;
using exir::Value;
using wire::NodeContent;

constexpr char kToBytes[] = "quantized_decomposed::quantize_per_tensor";
constexpr char kToFloats[] = "quantized_decomposed::dequantize_per_tensor";

// uint8 becomes int8, and zero points with it.
constexpr int32_t kShift = 128;

const Value* bytes_of(const Node& node) {
  return node.is(kToBytes) ? node.outputs[0] : tensor(node);
}

Quantization quantization_of(const Node& node) {
  Quantization how;
  how.type = wire::DataType::QINT8;
  const double scale = node.arg("scale").to_double();
  how.scale = static_cast<float>(scale);
  how.inverse = static_cast<float>(1 / scale);
  how.zero_point = static_cast<int32_t>(node.arg("zero_point").to_int());
  if (bytes_of(node)->type.dtype == ScalarType::kByte) how.zero_point -= kShift;
  return how;
}

Id convert(Lowering& l, const Node& node, bool* image) {
  const Value* x = tensor(node);
  *image = l.is_image(x);
  NodeSpec spec;
  spec.kind = NodeContent::Convert;
  spec.inputs = {*image ? l.image(x) : l.plain(x)};
  Dims dims = l.out().dims(spec.inputs[0]);
  return l.out().add(std::move(spec), std::move(dims));
}

struct Range {
  int64_t least, most;
  bool operator==(const Range& other) const { return least == other.least && most == other.most; }
};

// The integers that the dtype of the quantised tensor has.
Range whole_range(const Node& node) {
  const int64_t least = bytes_of(node)->type.dtype == ScalarType::kByte ? 0 : -128;
  return {least, least + 255};
}

// Those to which the node quantises.
Range range_of(const Node& node) {
  return {node.arg("quant_min").to_int(), node.arg("quant_max").to_int()};
}

// Clamps bytes to the range in which the node quantises, if that is not all of them.
Id within_range(Lowering& l, const Node& node, Id bytes) {
  const Range range = range_of(node), whole = whole_range(node);
  if (range == whole) return bytes;
  const double scale = node.arg("scale").to_double();
  const int64_t zero_point = node.arg("zero_point").to_int();
  NodeSpec spec;
  spec.kind = NodeContent::Clamp;
  spec.inputs = {bytes};
  if (range.least > whole.least) spec.min = static_cast<float>((range.least - zero_point) * scale);
  if (range.most < whole.most) spec.max = static_cast<float>((range.most - zero_point) * scale);
  Dims dims = l.out().dims(bytes);
  const Id y = l.out().add(std::move(spec), std::move(dims));
  l.out().set_quantization(y, quantization_of(node));
  return y;
}

void quantize(Lowering& l, const Node& node) {
  bool image;
  const Id y = convert(l, node, &image);
  l.out().set_quantization(y, quantization_of(node));
  l.set_like(node.outputs[0], image, within_range(l, node, y));
}

// Bytes that are an input of the call get the scale with which they are dequantised.
void dequantize(Lowering& l, const Node& node) {
  bool image;
  const Id y = convert(l, node, &image);
  l.out().set_quantization(l.out().maker(y)->inputs[0], quantization_of(node));
  l.set_like(node.outputs[0], image, y);
}

// Whether the input was quantised with the scale with which it is dequantised: a tensor of bytes
// has one scale in XNNPACK.
bool is_read_as_made(const Node& node) {
  const Node* maker = tensor(node)->producer;
  if (maker == nullptr || !maker->is("quantized_decomposed::quantize_per_tensor")) return false;
  const auto is_same = [&](const char* name) {
    return is_known(maker->arg(name)) && maker->arg(name).to_double() == node.arg(name).to_double();
  };
  return is_same("scale") && is_same("zero_point");
}

// Whether the call dequantises bytes that no call quantised, such as an input of the program.
bool takes_foreign_bytes(const Node& node) {
  const Node* maker = tensor(node)->producer;
  return node.is(kToFloats) && !is_constant(tensor(node)) &&
         (maker == nullptr || !maker->is(kToBytes));
}

bool is_scale(float scale) { return std::isnormal(scale) && scale > 0; }

std::string refusal(const Node& node) {
  const bool makes_bytes = node.is(kToBytes);
  const Value* bytes = bytes_of(node);
  const Value* floats = makes_bytes ? tensor(node) : node.outputs[0];
  const ScalarType dtype = bytes->type.dtype;
  if ((dtype != ScalarType::kChar && dtype != ScalarType::kByte) ||
      floats->type.dtype != ScalarType::kFloat) {
    return "it does not convert between float32 and int8";
  }
  for (const char* name : {"scale", "zero_point", "quant_min", "quant_max"}) {
    if (!is_known(node.arg(name))) return "a scale or zero point is not constant";
  }
  const auto scale = static_cast<float>(node.arg("scale").to_double());
  const int64_t zero_point = node.arg("zero_point").to_int();
  if (!is_scale(scale)) return "the scale is not a positive number";
  const Range range = range_of(node), whole = whole_range(node);
  if (zero_point < whole.least || zero_point > whole.most) return "the zero point is out of range";
  if (makes_bytes) {
    const bool is_part =
        whole.least <= range.least && range.least < range.most && range.most <= whole.most;
    return is_part ? "" : "its range is not one of bytes";
  }
  const bool is_known_scale = is_read_as_made(node) || takes_foreign_bytes(node);
  return is_known_scale ? "" : "its input was quantised with other parameters";
}

// ---- quantisation at run time, before layers with int8 weights ----
//
//     scale, zero point = choose_qparams(x)    layer(dequantize(quantize(x)))
//
// XNNPACK chooses the parameters for each row, or for each image before a convolution, which is
// more accurate.

constexpr char kChoose[] = "quantized_decomposed::choose_qparams.tensor";
constexpr char kChooseSymmetric[] = "quantized_decomposed::choose_qparams_symmetric.tensor";
constexpr char kQuantize[] = "quantized_decomposed::quantize_per_tensor.tensor";
constexpr char kDequantize[] = "quantized_decomposed::dequantize_per_tensor.tensor";
// torchao's operators, which quantise each row.
constexpr char kChooseRows[] = "torchao::choose_qparams_affine";
constexpr char kQuantizeRows[] = "torchao::quantize_affine";
constexpr char kDequantizeRows[] = "torchao::dequantize_affine";
// The older operators for the same, of "tokens".
constexpr char kChooseTokens[] = "quantized_decomposed::choose_qparams_per_token_asymmetric";
constexpr char kQuantizeTokens[] = "quantized_decomposed::quantize_per_token";
constexpr char kDequantizeTokens[] = "quantized_decomposed::dequantize_per_token";

bool is_of_tokens(const Node& node) {
  const Value* floats = node.is(kDequantizeTokens) ? node.outputs[0] : tensor(node);
  return floats->type.dtype == ScalarType::kFloat && floats->type.rank() >= 2 &&
         std::get<ScalarType>(node.arg("dtype").v) == ScalarType::kChar;
}

bool is_one_of(const Node& node, const char* tensors, const char* rows, const char* tokens) {
  return node.is(tensors) || (node.is(rows) && is_by_row(node)) ||
         (node.is(tokens) && is_of_tokens(node));
}
bool chooses_one(const Node& node) { return node.is(kChoose) || node.is(kChooseSymmetric); }
bool chooses(const Node& node) {
  return node.is(kChooseSymmetric) || is_one_of(node, kChoose, kChooseRows, kChooseTokens);
}
bool quantizes(const Node& node) {
  return is_one_of(node, kQuantize, kQuantizeRows, kQuantizeTokens);
}
bool dequantizes(const Node& node) {
  return is_one_of(node, kDequantize, kDequantizeRows, kDequantizeTokens);
}

const Argument& scale_of(const Node& node) {
  const bool tokens = node.is(kQuantizeTokens) || node.is(kDequantizeTokens);
  return node.arg(tokens ? "scales" : "scale");
}
const Argument& zero_point_of(const Node& node) {
  const bool tokens = node.is(kQuantizeTokens) || node.is(kDequantizeTokens);
  return node.arg(tokens ? "zero_points" : "zero_point");
}
bool is_result(const Argument& arg, const Value* value) {
  return arg.is_value() && arg.value() == value;
}

// True if all readers of a value pass the test; false if it is a result of the graph.
template <typename Test>
bool all_readers(const Graph& graph, const Value* value, const Test& test) {
  bool all = true;
  for (const auto& node : graph.nodes) {
    bool reads = false;
    exir::for_each_value(*node, [&](const Value* v) { reads = reads || v == value; });
    all = all && (!reads || test(*node));
  }
  const auto look = [&](const Value* v) { all = all && v != value; };
  for (const exir::Argument& output : graph.outputs) exir::for_each_value(output, look);
  for (const exir::Mutation& mutation : graph.mutations) look(mutation.source);
  return all;
}

// Whether all calls that dequantise the bytes agree in scale and zero point.
bool are_read_alike(const Node& node, const Graph& graph) {
  const auto agrees = [&](const Node& other, const char* name) {
    return is_known(other.arg(name)) && other.arg(name).to_double() == node.arg(name).to_double();
  };
  return std::all_of(graph.nodes.begin(), graph.nodes.end(), [&](const auto& other) {
    return !other->is(kToFloats) || tensor(*other) != tensor(node) ||
           (agrees(*other, "scale") && agrees(*other, "zero_point"));
  });
}

// Whether bytes to which an input is quantised are read as such: our kernels make NaN the least of
// a range, and XNNPACK the greatest.
bool shows_nan(const Node& node, const Graph& graph) {
  return node.is(kToBytes) && tensor(node)->producer == nullptr && refusal(node).empty() &&
         !(range_of(node) == whole_range(node)) &&
         !all_readers(graph, node.outputs[0],
                      [](const Node& reader) { return reader.is(kToFloats); });
}

// A payload has no uint8: such a tensor may not enter or leave it. Bytes that enter it have one
// scale.
std::string refusal_of_bytes(const Node& node, const Graph& graph) {
  if (shows_nan(node, graph)) return "its bytes leave, and an input may hold NaN";
  if (bytes_of(node)->type.dtype != ScalarType::kByte) {
    const bool is_one = !takes_foreign_bytes(node) || are_read_alike(node, graph);
    return is_one ? "" : "its input is dequantised with other parameters, too";
  }
  const Node* maker = node.is(kToBytes) ? &node : tensor(node)->producer;
  const bool stays = maker != nullptr && maker->is(kToBytes) && refusal(*maker).empty() &&
                     all_readers(graph, maker->outputs[0], [](const Node& reader) {
                       return reader.is(kToFloats) && refusal(reader).empty();
                     });
  return stays ? "" : "its uint8 is read by nodes other than those that dequantise it";
}

bool is_byte_layer(const Node& node, const Value* x) {
  if (!node.is("aten::linear") || tensor(node, 0) != x || x->type.rank() < 2) return false;
  const Value* weights = tensor(node, 1);
  const bool constant = is_constant(weights) && weights->type.rank() == 2 &&
                        (node.arg(2).is_none() || is_constant(node.arg(2).value()));
  return constant && weights->scales != nullptr && x->type.dtype == ScalarType::kFloat &&
         form_of(*weights->scales, weights->type.sizes, true);
}

// Why XNNPACK has no int8 form with float results for the convolution `node` of the signal or image
// `x`; empty if it has one.
std::string refusal_of_convolution(const Node& node, const Value* x) {
  if (tensor(node, 0) != x) return "its result is read by a convolution as weights";
  const Value* weights = tensor(node, 1);
  if (!is_constant(weights) || weights->scales == nullptr) return "the weights are not quantised";
  if (x->type.rank() == 5) return "XNNPACK quantises no volumes at run time";
  const int64_t groups = node.arg("groups").to_int();
  const bool transposed = node.arg("transposed").to_bool();
  if (groups > 1 && !transposed && weights->type.sizes[1] == exir::Sym(1)) {
    return "XNNPACK has no depthwise convolution of what is quantised at run time";
  }
  const size_t channel_dim = transposed ? 1 : 0;
  const auto& scales = weights->scales->items;
  const auto is_open = [](const exir::Sym& size) { return !size.is_int(); };
  const auto open = std::count_if(x->type.sizes.begin(), x->type.sizes.end(), is_open);
  const bool has_form = has_scales(weights, channel_dim) ||
                        (may_be_split(*weights, channel_dim) && (groups == 1 || open <= 1));
  if (!has_form || !std::all_of(scales.begin(), scales.end(), is_scale)) {
    return "XNNPACK has no int8 kernel for a convolution whose weights have such scales or zero "
           "points";
  }
  return find_rule(node.target())->refusal(node);
}

// Whether the node is such a convolution.
bool is_byte_convolution(const Node& node, const Value* x) {
  return node.is("aten::convolution") && refusal_of_convolution(node, x).empty();
}

// Whether `back` is the last of the three calls before layers with int8 weights, all linear or all
// convolutions.
bool is_before_layers(const Node& back, const Graph& graph) {
  const Node* there = dequantizes(back) ? tensor(back)->producer : nullptr;
  if (there == nullptr || !quantizes(*there)) return false;
  const Node* choice = scale_of(*there).value()->producer;
  if (choice == nullptr || !chooses(*choice) || tensor(*choice) != tensor(*there)) return false;
  for (const Node* node : {there, &back}) {
    if (!is_result(scale_of(*node), choice->outputs[0]) ||
        !is_result(zero_point_of(*node), choice->outputs[1])) {
      return false;
    }
  }
  const Value* x = back.outputs[0];
  return all_readers(graph, x, [&](const Node& node) { return is_byte_layer(node, x); }) ||
         (chooses_one(*choice) &&
          all_readers(graph, x, [&](const Node& node) { return is_byte_convolution(node, x); }));
}

bool is_quantize_before_layers(const Node& there, const Graph& graph) {
  return quantizes(there) && all_readers(graph, there.outputs[0], [&](const Node& node) {
           return is_before_layers(node, graph);
         });
}

// Why a layer cannot read what is quantised, by way of the calls that follow `node`; empty if there
// is no reader of which more is known.
std::string refusal_of_readers(const Node& node, const Graph& graph) {
  std::string why;
  for (const auto& reader : graph.nodes) {
    bool reads = false;
    exir::for_each_value(*reader, [&](const Value* value) {
      for (const Value* output : node.outputs) reads = reads || value == output;
    });
    if (!reads || !why.empty()) continue;
    if (reader->is("aten::convolution") && dequantizes(node)) {
      why = refusal_of_convolution(*reader, node.outputs[0]);
    } else if (!dequantizes(node) && (quantizes(*reader) || dequantizes(*reader))) {
      why = refusal_of_readers(*reader, graph);
    }
  }
  return why;
}

std::string dynamic_refusal(const Node& node, const Graph& graph) {
  bool taken = true;
  if (dequantizes(node)) {
    taken =
        is_before_layers(node, graph) && is_quantize_before_layers(*tensor(node)->producer, graph);
  } else if (quantizes(node)) {
    taken = is_quantize_before_layers(node, graph);
  } else {
    for (const Value* chosen : node.outputs) {
      taken = taken && all_readers(graph, chosen, [&](const Node& reader) {
                return is_quantize_before_layers(reader, graph) || is_before_layers(reader, graph);
              });
    }
  }
  if (taken) return "";
  const std::string why = refusal_of_readers(node, graph);
  return why.empty() ? "its result is read by nodes other than layers with int8 weights" : why;
}

void nothing(Lowering&, const Node&) {}

// Quantises each row with its own scale, or each image.
void quantize_rows(Lowering& l, const Node& node) {
  const Value* x = tensor(*tensor(node)->producer);
  const bool image = l.is_read_by(node.outputs[0], "aten::convolution");
  NodeSpec spec;
  spec.kind = NodeContent::Convert;
  spec.inputs = {image ? l.image(x) : l.plain(x)};
  Dims dims = l.out().dims(spec.inputs[0]);
  if (image && dims.size() == 3) {  // A signal is an image of height 1.
    dims.insert(dims.begin() + 1, 1);
    spec.inputs = {l.reshape(spec.inputs[0], dims)};
  }
  const Id y = l.out().add(std::move(spec), std::move(dims));
  Quantization how;
  how.type = wire::DataType::QDINT8;
  how.shared_dims = image ? 3 : 1;
  l.out().set_quantization(y, how);
  l.set_like(node.outputs[0], image, y);
}

constexpr OpRule kTable[] = {
    {kChoose, nullptr, nothing, 1, false, Types::kAny, dynamic_refusal},
    {kChooseSymmetric, nullptr, nothing, 1, false, Types::kAny, dynamic_refusal},
    {kQuantize, nullptr, nothing, 1, false, Types::kAny, dynamic_refusal},
    {kDequantize, nullptr, quantize_rows, 1, false, Types::kAny, dynamic_refusal},
    {kChooseRows, nullptr, nothing, 1, false, Types::kAny, dynamic_refusal},
    {kQuantizeRows, nullptr, nothing, 1, false, Types::kAny, dynamic_refusal},
    {kDequantizeRows, nullptr, quantize_rows, 1, false, Types::kAny, dynamic_refusal},
    {kChooseTokens, nullptr, nothing, 1, false, Types::kAny, dynamic_refusal},
    {kQuantizeTokens, nullptr, nothing, 1, false, Types::kAny, dynamic_refusal},
    {kDequantizeTokens, nullptr, quantize_rows, 1, false, Types::kAny, dynamic_refusal},

    {kToBytes, refusal, quantize, 1, false, Types::kAny, refusal_of_bytes},
    {kToFloats, refusal, dequantize, 1, false, Types::kAny, refusal_of_bytes},
};

}  // namespace

const std::span<const OpRule> kQuantizedRules{kTable};

bool is_quantised_by_rows(const Value* x, const Graph& graph) {
  return x->producer != nullptr && dequantizes(*x->producer) &&
         dynamic_refusal(*x->producer, graph).empty();
}

bool is_between_bytes(const Node& node, const Graph& graph) {
  const Node* maker = tensor(node)->producer;
  if (maker == nullptr || !maker->is(kToFloats) || !refusal(*maker).empty()) return false;
  const Node* last = &node;
  for (;;) {
    const Node* reader = nullptr;
    const bool one = all_readers(graph, last->outputs[0], [&](const Node& each) {
      const bool first = reader == nullptr;
      reader = &each;
      return first;
    });
    if (!one || reader == nullptr) return false;
    if (reader->is(kToBytes)) return refusal(*reader).empty();
    const bool clamps =
        reader->is("aten::relu") || reader->is("aten::clamp") || reader->is("aten::hardtanh");
    if (!clamps) return false;
    last = reader;
  }
}

bool is_by_row(const Node& node) {
  const Value* x = tensor(node);
  const Argument& block = node.arg("block_size");
  if (is_constant(x) || !(exir::are_rows(*x, block) || exir::is_one_block(*x, block))) return false;
  const Value* bytes = node.is("torchao::quantize_affine") ? node.outputs[0] : x;
  const Value* floats = node.is("torchao::dequantize_affine") ? node.outputs[0] : x;
  return floats->type.dtype == ScalarType::kFloat &&
         (node.is("torchao::choose_qparams_affine") || bytes->type.dtype == ScalarType::kChar);
}

}  // namespace taper::xnnpack
