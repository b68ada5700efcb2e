// Taper's own kinds of nodes: functions that are one node in the compiler's graph and several in
// XNNPACK's. If a stage computes such a node (stages/fused), it does not become part of XNNPACK's
// graph; otherwise it is expanded into XNNPACK's nodes, with intermediate results inside XNNPACK's
// graph.

#include <algorithm>
#include <iterator>
#include <utility>

#include "backends/xnnpack/runtime/graph/node_kinds.h"

namespace taper::xnnpack {
namespace {

using wire::DataType;
using wire::NodeContent;

// Some dimensions, one bit for each.
using DimMask = uint32_t;

bool has_dim(DimMask mask, size_t d) { return (mask >> d & 1) != 0; }

DimMask last_dims(uint32_t rank, uint32_t count) {
  return ((DimMask{1} << count) - 1) << (rank - count);
}

// Defines XNNPACK's nodes for one of ours, one after another. After a failure it does nothing.
class Expansion {
 public:
  explicit Expansion(xnn_subgraph_t graph) : graph_(graph) {}

  xnn_status status() const { return status_; }

  // Adds an intermediate result or, with `data`, a constant; the data must outlive XNNPACK's graph.
  uint32_t value(const Shape& shape, const float* data = nullptr) {
    const XnnDims dims(shape);
    uint32_t id = XNN_INVALID_VALUE_ID;
    note(xnn_define_tensor_value(graph_, xnn_datatype_fp32, dims.rank, dims.sizes, data,
                                 XNN_INVALID_VALUE_ID, 0, &id));
    return id;
  }
  void unary(xnn_unary_operator op, uint32_t x, uint32_t y) {
    if (status_ == xnn_status_success) note(xnn_define_unary(graph_, op, nullptr, x, y, 0));
  }
  void clamp(float min, float max, uint32_t x, uint32_t y) {
    xnn_unary_params params;
    params.clamp.min = min;
    params.clamp.max = max;
    if (status_ != xnn_status_success) return;
    note(xnn_define_unary(graph_, xnn_unary_clamp, &params, x, y, 0));
  }
  void binary(xnn_binary_operator op, uint32_t a, uint32_t b, uint32_t y,
              const xnn_binary_params* range = nullptr) {
    if (status_ == xnn_status_success) note(xnn_define_binary(graph_, op, range, a, b, y, 0));
  }
  void softmax(uint32_t x, uint32_t y) {
    if (status_ == xnn_status_success) note(xnn_define_softmax(graph_, x, y, 0));
  }
  void transpose(size_t rank, const size_t* order, uint32_t x, uint32_t y) {
    if (status_ != xnn_status_success) return;
    note(xnn_define_static_transpose(graph_, rank, order, x, y, 0));
  }
  // A size of 0 is inferred.
  void reshape(const Shape& shape, uint32_t x, uint32_t y) {
    const XnnDims dims(shape);
    if (status_ != xnn_status_success) return;
    note(xnn_define_static_reshape(graph_, dims.rank, dims.sizes, x, y, 0));
  }
  // Computes the mean over the dimensions of the mask, which become 1.
  void mean(size_t rank, DimMask mask, uint32_t x, uint32_t y) {
    size_t dims[kMaxRank] = {}, count = 0;
    for (size_t d = 0; d < rank; ++d) {
      if (has_dim(mask, d)) dims[count++] = d;
    }
    if (status_ != xnn_status_success) return;
    note(xnn_define_static_reduce(graph_, xnn_reduce_mean, count, dims, x, y, XNN_FLAG_KEEP_DIMS));
  }

 private:
  void note(xnn_status status) {
    if (status_ == xnn_status_success) status_ = status;
  }

  const xnn_subgraph_t graph_;
  xnn_status status_ = xnn_status_success;
};

// Checks that all arguments and the result are floats, and all arguments but the first constants.
Status check_taper_kind(const XnnNode& node, Span<const XnnValue> values) {
  TAPER_XNNPACK_REQUIRE(is_in_floats(node, values),
                        "a node of Taper's own kinds has a tensor that is not float32");
  for (size_t i = 1; i < std::size(node.inputs); ++i) {
    const uint32_t id = node.inputs[i];
    TAPER_XNNPACK_REQUIRE(id == kNone || values[id].data != nullptr,
                          "the weights of a node of Taper's own kinds are not constant");
  }
  return {};
}

// Whether the weights and the bias have `count` elements, if they exist.
bool have_entries(const XnnNode& node, Span<const XnnValue> values, uint64_t count) {
  for (size_t i = 1; i < 3; ++i) {
    const uint32_t id = node.inputs[i];
    if (id != kNone && element_count(values[id].shape) != count) return false;
  }
  return true;
}

template <typename Table>
void weighted_input(XnnNode& node) {
  const auto& table = node.as<Table>();
  node.inputs[0] = table.input();
  node.inputs[1] = table.weight();
  node.inputs[2] = table.bias();
  node.output = table.output();
}

// ---- x * sigmoid(x) ----

Status infer_same(const XnnNode& node, Span<XnnValue> values) {
  output(node, values).shape = input(node, values).shape;
  return {};
}

xnn_status define_swish(xnn_subgraph_t graph, const XnnNode& node, Span<const XnnValue> values) {
  Expansion nodes(graph);
  const uint32_t x = in_id(node, values), share = nodes.value(input(node, values).shape);
  nodes.unary(xnn_unary_sigmoid, x, share);
  nodes.binary(xnn_binary_multiply, x, share, out_id(node, values));
  return nodes.status();
}

// ---- gelu with tanh: x * sigmoid(2 * sqrt(2 / pi) * (x + 0.044715 * x^3)) ----

// The factors of x and of x^3. XNNPACK may read past the end of a constant.
constexpr float kGeluLinear[8] = {1.5957691216f};
constexpr float kGeluCubic[8] = {0.0713548163f};

xnn_status define_gelu_tanh(xnn_subgraph_t graph, const XnnNode& node,
                            Span<const XnnValue> values) {
  Expansion nodes(graph);
  const Shape& shape = input(node, values).shape;
  const Shape number = {1, {1}};
  const uint32_t x = in_id(node, values);
  const uint32_t square = nodes.value(shape), scaled = nodes.value(shape), sum = nodes.value(shape);
  const uint32_t exponent = nodes.value(shape), share = nodes.value(shape);
  nodes.unary(xnn_unary_square, x, square);
  nodes.binary(xnn_binary_multiply, square, nodes.value(number, kGeluCubic), scaled);
  nodes.binary(xnn_binary_add, scaled, nodes.value(number, kGeluLinear), sum);
  nodes.binary(xnn_binary_multiply, sum, x, exponent);
  nodes.unary(xnn_unary_sigmoid, exponent, share);
  nodes.binary(xnn_binary_multiply, x, share, out_id(node, values));
  return nodes.status();
}

// ---- norms ----

// The rows to normalise: these dimensions of a value with the given shape.
struct Rows {
  uint32_t id;
  Shape shape;
  DimMask dims;
};

// Defines y = x / sqrt(mean(x * x) + eps); if `is_centred`, the mean of x is subtracted first.
void normalize(Expansion& nodes, const Rows& x, bool is_centred, const float* eps, uint32_t y) {
  const uint32_t rank = x.shape.rank;
  Shape column = x.shape;
  for (uint32_t d = 0; d < rank; ++d) {
    if (has_dim(x.dims, d)) column.dims[d] = 1;
  }
  uint32_t centred = x.id;
  if (is_centred) {
    const uint32_t mean = nodes.value(column);
    centred = nodes.value(x.shape);
    nodes.mean(rank, x.dims, x.id, mean);
    nodes.binary(xnn_binary_subtract, x.id, mean, centred);
  }
  const uint32_t square = nodes.value(x.shape), variance = nodes.value(column);
  const uint32_t sum = nodes.value(column), factor = nodes.value(column);
  nodes.unary(xnn_unary_square, centred, square);
  nodes.mean(rank, x.dims, square, variance);
  nodes.binary(xnn_binary_add, variance, nodes.value({1, {1}}, eps), sum);
  nodes.unary(xnn_unary_reciprocal_square_root, sum, factor);
  nodes.binary(xnn_binary_multiply, centred, factor, y);
}

// Defines `last` as x times the weights plus the bias, if the node has them. `entries` is the shape
// in which these broadcast; `make` defines the nodes that compute x into a given value.
template <typename Make>
void with_weights(Expansion& nodes, const XnnNode& node, Span<const XnnValue> values,
                  const Shape& entries, uint32_t last, const Make& make) {
  const Shape& shape = values[node.output].shape;
  const bool has_weight = node.inputs[1] != kNone, has_bias = node.inputs[2] != kNone;
  uint32_t x = has_weight || has_bias ? nodes.value(shape) : last;
  make(x);
  if (has_weight) {
    const uint32_t weight = nodes.value(entries, floats_of(input(node, values, 1)));
    const uint32_t product = has_bias ? nodes.value(shape) : last;
    nodes.binary(xnn_binary_multiply, x, weight, product);
    x = product;
  }
  if (has_bias) {
    const uint32_t bias = nodes.value(entries, floats_of(input(node, values, 2)));
    nodes.binary(xnn_binary_add, x, bias, last);
  }
}

void row_norm_arguments(XnnNode& node) {
  weighted_input<wire::RowNorm>(node);
  node.number = node.as<wire::RowNorm>().eps();
}

Status infer_row_norm(const XnnNode& node, Span<XnnValue> values) {
  const Shape& x = input(node, values).shape;
  const uint32_t row_dims = node.as<wire::RowNorm>().row_dims();
  TAPER_XNNPACK_REQUIRE(row_dims >= 1 && row_dims <= x.rank,
                        "norm of rows: the input has fewer dimensions than a row");
  uint64_t width = 1;
  for (uint32_t d = x.rank - row_dims; d < x.rank; ++d) width *= x.dims[d];
  TAPER_XNNPACK_REQUIRE(have_entries(node, values, width),
                        "norm of rows: the number of weights is not that of a row's elements");
  return infer_same(node, values);
}

template <bool kIsCentred>
xnn_status define_row_norm(xnn_subgraph_t graph, const XnnNode& node, Span<const XnnValue> values) {
  Expansion nodes(graph);
  const Shape& shape = input(node, values).shape;
  const uint32_t row_dims = node.as<wire::RowNorm>().row_dims();
  Shape entries;
  entries.rank = row_dims;
  std::copy(shape.dims + shape.rank - row_dims, shape.dims + shape.rank, entries.dims);
  with_weights(nodes, node, values, entries, out_id(node, values), [&](uint32_t y) {
    const DimMask dims = last_dims(shape.rank, row_dims);
    normalize(nodes, {in_id(node, values), shape, dims}, kIsCentred, &node.number, y);
  });
  return nodes.status();
}

void group_norm_arguments(XnnNode& node) {
  weighted_input<wire::GroupNorm>(node);
  node.number = node.as<wire::GroupNorm>().eps();
}

// Only the number of images may change at run time; the other sizes are part of the reshapes.
template <bool kIsImage>
Status infer_group_norm(const XnnNode& node, Span<XnnValue> values) {
  const Shape &x = input(node, values).shape, &declared = values[node.output].declared;
  const uint32_t groups = node.as<wire::GroupNorm>().groups();
  const uint32_t channels = x.rank < 2 ? 0 : kIsImage ? x.last() : x.dims[1];
  TAPER_XNNPACK_REQUIRE(channels >= 1 && groups >= 1 && channels % groups == 0,
                        "group norm: the channels cannot be divided into groups");
  TAPER_XNNPACK_REQUIRE(x.rank == declared.rank, "group norm: the result has another rank");
  for (uint32_t d = 1; d < x.rank; ++d) {
    TAPER_XNNPACK_REQUIRE(x.dims[d] == declared.dims[d],
                          "group norm: the images have other sizes than the result declares");
  }
  TAPER_XNNPACK_REQUIRE(element_count(x) <= UINT32_MAX, "group norm: the images are too large");
  TAPER_XNNPACK_REQUIRE(have_entries(node, values, channels),
                        "group norm: the number of weights is not that of channels");
  return infer_same(node, values);
}

xnn_status define_group_norm(xnn_subgraph_t graph, const XnnNode& node,
                             Span<const XnnValue> values) {
  Expansion nodes(graph);
  const Shape& shape = input(node, values).shape;
  const uint32_t groups = node.as<wire::GroupNorm>().groups();
  const auto width = static_cast<uint32_t>(element_count(shape) / shape.dims[0] / groups);
  const Shape row = {2, {shape.dims[0] * groups, width}};
  Shape entries;
  entries.rank = shape.rank - 1;
  std::fill(entries.dims, entries.dims + entries.rank, 1);
  entries.dims[0] = shape.dims[1];
  Shape images = shape;
  images.dims[0] = 0;
  with_weights(nodes, node, values, entries, out_id(node, values), [&](uint32_t y) {
    const uint32_t x = nodes.value(row), normal = nodes.value(row);
    nodes.reshape({2, {0, row.dims[1]}}, in_id(node, values), x);
    normalize(nodes, {x, row, last_dims(2, 1)}, true, &node.number, normal);
    nodes.reshape(images, normal, y);
  });
  return nodes.status();
}

// The channels are last, so that a group is a part of each pixel.
xnn_status define_image_group_norm(xnn_subgraph_t graph, const XnnNode& node,
                                   Span<const XnnValue> values) {
  Expansion nodes(graph);
  const Shape& shape = input(node, values).shape;
  const uint32_t groups = node.as<wire::GroupNorm>().groups(), channels = shape.last();
  const auto area = static_cast<uint32_t>(element_count(shape) / shape.dims[0] / channels);
  const Shape parts = {4, {shape.dims[0], area, groups, channels / groups}};
  Shape images = shape, any_parts = parts;
  images.dims[0] = any_parts.dims[0] = 0;
  const uint32_t out = out_id(node, values);
  const uint32_t last = has_bounds(node) ? nodes.value(shape) : out;
  with_weights(nodes, node, values, {1, {channels}}, last, [&](uint32_t y) {
    const uint32_t x = nodes.value(parts), normal = nodes.value(parts);
    nodes.reshape(any_parts, in_id(node, values), x);
    constexpr DimMask kPixelsAndChannels = 1u << 1 | 1u << 3;
    normalize(nodes, {x, parts, kPixelsAndChannels}, true, &node.number, normal);
    nodes.reshape(images, normal, y);
  });
  if (last != out) nodes.clamp(node.min, node.max, last, out);
  return nodes.status();
}

Status infer_channel_scale(const XnnNode& node, Span<XnnValue> values) {
  const Shape& x = input(node, values).shape;
  TAPER_XNNPACK_REQUIRE(x.rank >= 1 && have_entries(node, values, x.last()),
                        "batch norm: the number of weights is not that of channels");
  return infer_same(node, values);
}

xnn_status define_channel_scale(xnn_subgraph_t graph, const XnnNode& node,
                                Span<const XnnValue> values) {
  Expansion nodes(graph);
  const Shape& shape = input(node, values).shape;
  const Shape entries = {1, {shape.last()}};
  const xnn_binary_params range = {node.min, node.max};
  const uint32_t product = nodes.value(shape);
  nodes.binary(xnn_binary_multiply, in_id(node, values),
               nodes.value(entries, floats_of(input(node, values, 1))), product);
  nodes.binary(xnn_binary_add, product, nodes.value(entries, floats_of(input(node, values, 2))),
               out_id(node, values), &range);
  return nodes.status();
}

// ---- softmax along any dimension ----

void softmax_arguments(XnnNode& node) {
  node.inputs[0] = node.as<wire::DimSoftmax>().input();
  node.output = node.as<wire::DimSoftmax>().output();
}

Status infer_softmax(const XnnNode& node, Span<XnnValue> values) {
  TAPER_XNNPACK_REQUIRE(node.as<wire::DimSoftmax>().dim() < input(node, values).shape.rank,
                        "softmax: the input does not have the dimension");
  return infer_same(node, values);
}

// XNNPACK's softmax is along the last dimension.
xnn_status define_softmax(xnn_subgraph_t graph, const XnnNode& node, Span<const XnnValue> values) {
  Expansion nodes(graph);
  Shape shape = input(node, values).shape;
  const uint32_t dim = node.as<wire::DimSoftmax>().dim(), last = shape.rank - 1;
  size_t order[kMaxRank] = {};
  for (uint32_t d = 0; d < shape.rank; ++d) order[d] = d;
  std::swap(order[dim], order[last]);
  std::swap(shape.dims[dim], shape.dims[last]);
  const uint32_t there = nodes.value(shape), result = nodes.value(shape);
  nodes.transpose(shape.rank, order, in_id(node, values), there);
  nodes.softmax(there, result);
  nodes.transpose(shape.rank, order, result, out_id(node, values));
  return nodes.status();
}

// ---- a table of bytes ----

void table_arguments(XnnNode& node) {
  const auto& content = node.as<wire::ByteTable>();
  node.inputs[0] = content.input();
  node.inputs[1] = content.table();
  node.output = content.output();
}

Status check_table(const XnnNode& node, Span<const XnnValue> values) {
  const XnnValue& table = input(node, values, 1);
  const bool has_entries = table.data != nullptr && table.type == DataType::QINT8 &&
                           element_count(table.declared) == 256;
  TAPER_XNNPACK_REQUIRE(has_entries, "a table of bytes is not a constant of 256 bytes");
  TAPER_XNNPACK_REQUIRE(
      input(node, values).type == DataType::QINT8 && values[node.output].type == DataType::QINT8,
      "a table of bytes is applied to a tensor of other numbers");
  return {};
}

// XNNPACK has no such node; a stage computes it (stages/table_stage.h).
xnn_status define_table(xnn_subgraph_t, const XnnNode&, Span<const XnnValue>) {
  return xnn_status_unsupported_parameter;
}

constexpr NodeKindEntry kTable[] = {
    {NodeContent::Swish,
     {"swish", one_input<wire::Unary>, 1, 0, check_taper_kind, infer_same, define_swish, nullptr,
      1}},
    {NodeContent::GeluTanh,
     {"gelu with tanh", one_input<wire::Unary>, 1, 0, check_taper_kind, infer_same,
      define_gelu_tanh, nullptr, 5}},
    {NodeContent::LayerNorm,
     {"layer norm", row_norm_arguments, 1, 0, check_taper_kind, infer_row_norm,
      define_row_norm<true>, nullptr, 5}},
    {NodeContent::RmsNorm,
     {"rms norm", row_norm_arguments, 1, 0, check_taper_kind, infer_row_norm,
      define_row_norm<false>, nullptr, 4}},
    {NodeContent::GroupNorm,
     {"group norm", group_norm_arguments, 1, 0, check_taper_kind, infer_group_norm<false>,
      define_group_norm, nullptr, 7}},
    {NodeContent::ImageGroupNorm,
     {"group norm", group_norm_arguments, 1, 0, check_taper_kind, infer_group_norm<true>,
      define_image_group_norm, nullptr, 8}},
    {NodeContent::BatchNorm,
     {"batch norm", weighted_input<wire::ChannelScale>, 3, 0, check_taper_kind, infer_channel_scale,
      define_channel_scale, nullptr, 1}},
    {NodeContent::DimSoftmax,
     {"softmax along a dimension", softmax_arguments, 1, 0, check_taper_kind, infer_softmax,
      define_softmax, nullptr, 2}},
    {NodeContent::ByteTable,
     {"byte table", table_arguments, 2, 0, check_table, infer_same, define_table}},
};

}  // namespace

const Span<const NodeKindEntry> kTaperKinds{kTable};

}  // namespace taper::xnnpack
