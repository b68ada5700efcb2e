// Element-wise kinds of nodes: with one argument, or with two that broadcast; and softmax.

#include <cmath>

#include "backends/xnnpack/runtime/graph/node_kinds.h"

namespace taper::xnnpack {
namespace {

using wire::DataType;
using wire::NodeContent;

Status infer_same(const XnnNode& node, Span<XnnValue> values) {
  output(node, values).shape = input(node, values).shape;
  return {};
}

Status infer_last(const XnnNode& node, Span<XnnValue> values) {
  TAPER_XNNPACK_REQUIRE(input(node, values).shape.rank > 0, "softmax: the input has rank 0");
  return infer_same(node, values);
}

Status infer_broadcast(const XnnNode& node, Span<XnnValue> values) {
  const Shape& a = input(node, values, 0).shape;
  const Shape& b = input(node, values, 1).shape;
  Shape result = a.rank >= b.rank ? a : b;
  const Shape& other = a.rank >= b.rank ? b : a;
  for (uint32_t d = 0; d < other.rank; ++d) {
    uint32_t& size = result.dims[result.rank - 1 - d];
    const uint32_t mine = other.dims[other.rank - 1 - d];
    TAPER_XNNPACK_REQUIRE(size == mine || size == 1 || mine == 1,
                          "an element-wise node of the XNNPACK graph: the shapes do not broadcast");
    if (size == 1) size = mine;
  }
  output(node, values).shape = result;
  return {};
}

Status infer_slope(const XnnNode& node, Span<XnnValue> values) {
  TAPER_TRY(infer_broadcast(node, values));
  TAPER_XNNPACK_REQUIRE(output(node, values).shape == input(node, values).shape,
                        "prelu: the slope is larger than the input");
  return {};
}

bool is_byte(DataType type) { return type == DataType::QINT8 || type == DataType::QUINT8; }
bool is_float(DataType type) { return type == DataType::FP32 || type == DataType::FP16; }

Status check_convert(const XnnNode& node, Span<const XnnValue> values) {
  const XnnValue& from = input(node, values);
  const XnnValue& to = values[node.output];
  const bool fits = (is_float(from.type) && (is_float(to.type) || is_byte(to.type))) ||
                    (is_byte(from.type) && (is_float(to.type) || from.type == to.type)) ||
                    (is_float(from.type) && to.type == DataType::QDINT8);
  TAPER_XNNPACK_REQUIRE(fits, "convert: the combination of types is not supported");
  if (to.type == DataType::QDINT8) {
    TAPER_XNNPACK_REQUIRE(to.nonbatch_dims >= 1 && to.nonbatch_dims <= from.declared.rank,
                          "convert: the tensor has fewer dimensions than its parameters state");
  }
  return {};
}

// The slope and alpha must be finite, since XNNPACK computes a table of the results for all bytes.
Status check_slope(const XnnNode& node, Span<const XnnValue> values) {
  TAPER_XNNPACK_REQUIRE(std::isfinite(node.as<wire::LeakyRelu>().negative_slope()),
                        "leaky relu: the slope is not a finite number");
  return check_numbers(node, values);
}
Status check_alpha(const XnnNode& node, Span<const XnnValue> values) {
  const float alpha = node.as<wire::Elu>().alpha();
  TAPER_XNNPACK_REQUIRE(std::isnormal(alpha) && alpha > 0, "elu: alpha is not a positive number");
  return check_numbers(node, values);
}

template <xnn_unary_operator kOperator>
xnn_status define_unary(xnn_subgraph_t graph, const XnnNode& node, Span<const XnnValue> values) {
  return xnn_define_unary(graph, kOperator, nullptr, in_id(node, values), out_id(node, values), 0);
}

// XNNPACK subtracts from 0, which makes 0 of 0 and not -0.
xnn_status define_negate(xnn_subgraph_t graph, const XnnNode& node, Span<const XnnValue> values) {
  if (input(node, values).type != DataType::FP32) {
    return define_unary<xnn_unary_negate>(graph, node, values);
  }
  static constexpr float kFactor = -1;
  constexpr size_t kSize = 1;
  uint32_t factor = XNN_INVALID_VALUE_ID;
  const xnn_status status = xnn_define_tensor_value(graph, xnn_datatype_fp32, 1, &kSize, &kFactor,
                                                    XNN_INVALID_VALUE_ID, 0, &factor);
  if (status != xnn_status_success) return status;
  return xnn_define_binary(graph, xnn_binary_multiply, nullptr, in_id(node, values), factor,
                           out_id(node, values), 0);
}

xnn_status define_clamp(xnn_subgraph_t graph, const XnnNode& node, Span<const XnnValue> values) {
  xnn_unary_params params;
  params.clamp.min = node.min;
  params.clamp.max = node.max;
  return xnn_define_unary(graph, xnn_unary_clamp, &params, in_id(node, values),
                          out_id(node, values), 0);
}

xnn_status define_elu(xnn_subgraph_t graph, const XnnNode& node, Span<const XnnValue> values) {
  xnn_unary_params params;
  params.elu.alpha = node.as<wire::Elu>().alpha();
  return xnn_define_unary(graph, xnn_unary_elu, &params, in_id(node, values), out_id(node, values),
                          0);
}

xnn_status define_leaky_relu(xnn_subgraph_t graph, const XnnNode& node,
                             Span<const XnnValue> values) {
  xnn_unary_params params;
  params.leaky_relu.negative_slope = node.as<wire::LeakyRelu>().negative_slope();
  return xnn_define_unary(graph, xnn_unary_leaky_relu, &params, in_id(node, values),
                          out_id(node, values), 0);
}

xnn_status define_softmax(xnn_subgraph_t graph, const XnnNode& node, Span<const XnnValue> values) {
  return xnn_define_softmax(graph, in_id(node, values), out_id(node, values), 0);
}

xnn_status define_copy(xnn_subgraph_t graph, const XnnNode& node, Span<const XnnValue> values) {
  return xnn_define_copy(graph, in_id(node, values), out_id(node, values), 0);
}

// Whether no byte of an int8 result lies outside the bounds, as after a ReLU whose results begin at
// the lowest byte.
bool holds_every_byte(const XnnNode& node, Span<const XnnValue> values) {
  const XnnValue& y = values[node.output];
  const auto number = [&](int32_t byte) {
    return static_cast<float>(byte - y.zero_point) * y.scale;
  };
  return y.type == DataType::QINT8 && node.min <= number(INT8_MIN) && node.max >= number(INT8_MAX);
}

// XNNPACK clamps in a node of its own.
template <xnn_binary_operator kOperator>
xnn_status define_binary(xnn_subgraph_t graph, const XnnNode& node, Span<const XnnValue> values) {
  const xnn_binary_params params = {node.min, node.max};
  return xnn_define_binary(graph, kOperator, holds_every_byte(node, values) ? nullptr : &params,
                           in_id(node, values, 0), in_id(node, values, 1), out_id(node, values), 0);
}

template <xnn_unary_operator kOperator>
constexpr NodeKind unary(const char* name) {
  return {name, one_input<wire::Unary>, 1, 0, check_numbers, infer_same, define_unary<kOperator>};
}
template <xnn_binary_operator kOperator>
constexpr NodeKind binary(const char* name) {
  return {name, two_inputs, 2, 0, check_numbers, infer_broadcast, define_binary<kOperator>};
}

constexpr NodeKindEntry kTable[] = {
    {NodeContent::Abs, unary<xnn_unary_abs>("abs")},
    {NodeContent::Ceiling, unary<xnn_unary_ceiling>("ceiling")},
    {NodeContent::Cos, unary<xnn_unary_cosine>("cos")},
    {NodeContent::Exp, unary<xnn_unary_exp>("exp")},
    {NodeContent::Floor, unary<xnn_unary_floor>("floor")},
    {NodeContent::Gelu, unary<xnn_unary_gelu>("gelu")},
    {NodeContent::Hardswish, unary<xnn_unary_hardswish>("hardswish")},
    {NodeContent::Log, unary<xnn_unary_log>("log")},
    {NodeContent::Negate,
     {"negate", one_input<wire::Unary>, 1, 0, check_numbers, infer_same, define_negate}},
    {NodeContent::ReciprocalSquareRoot, unary<xnn_unary_reciprocal_square_root>("rsqrt")},
    {NodeContent::Sigmoid, unary<xnn_unary_sigmoid>("sigmoid")},
    {NodeContent::Sin, unary<xnn_unary_sine>("sin")},
    {NodeContent::Square, unary<xnn_unary_square>("square")},
    {NodeContent::SquareRoot, unary<xnn_unary_square_root>("sqrt")},
    {NodeContent::Tanh, unary<xnn_unary_tanh>("tanh")},

    {NodeContent::Clamp,
     {"clamp", one_input<wire::Unary>, 1, 0, check_numbers, infer_same, define_clamp}},
    {NodeContent::Convert,
     {"convert", one_input<wire::Unary>, 1, 0, check_convert, infer_same,
      define_unary<xnn_unary_convert>}},
    {NodeContent::Copy,
     {"copy", one_input<wire::Unary>, 1, 0, check_numbers, infer_same, define_copy}},
    {NodeContent::Elu, {"elu", one_input<wire::Elu>, 1, 0, check_alpha, infer_same, define_elu}},
    {NodeContent::LeakyRelu,
     {"leaky relu", one_input<wire::LeakyRelu>, 1, 0, check_slope, infer_same, define_leaky_relu}},
    {NodeContent::Softmax,
     {"softmax", one_input<wire::Unary>, 1, 0, check_floats, infer_last, define_softmax}},

    {NodeContent::Add, binary<xnn_binary_add>("add")},
    {NodeContent::Divide, binary<xnn_binary_divide>("divide")},
    {NodeContent::Maximum, binary<xnn_binary_maximum>("maximum")},
    {NodeContent::Minimum, binary<xnn_binary_minimum>("minimum")},
    {NodeContent::Multiply, binary<xnn_binary_multiply>("multiply")},
    {NodeContent::Subtract, binary<xnn_binary_subtract>("subtract")},
    {NodeContent::PRelu,
     {"prelu", two_inputs, 2, 0, check_numbers, infer_slope, define_binary<xnn_binary_prelu>}},
};

}  // namespace

const Span<const NodeKindEntry> kElementKinds{kTable};

}  // namespace taper::xnnpack
