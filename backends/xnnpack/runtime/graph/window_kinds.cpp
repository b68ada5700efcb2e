// Kinds of nodes that slide a window over images [batch, height, width, channels]: convolutions and
// pools.

#include <algorithm>

#include "backends/xnnpack/payload_format.h"
#include "backends/xnnpack/runtime/graph/node_kinds.h"

namespace taper::xnnpack {
namespace {

using wire::Convolution;
using wire::DataType;
using wire::NodeContent;

constexpr uint32_t kKeepDims = XNN_FLAG_KEEP_DIMS;
constexpr uint32_t kMaxParameter = 1u << 20;  // The largest stride, padding or other parameter.

void convolution_arguments(XnnNode& node) {
  const auto& table = node.as<Convolution>();
  node.inputs[0] = table.input();
  node.inputs[1] = table.filter();
  node.inputs[2] = table.bias();
  node.output = table.output();
  node.flags = table.flags();
}

template <typename Table>
bool is_window(const Table& table, uint32_t height, uint32_t width) {
  const uint32_t positive[] = {height, width};
  for (uint32_t p : positive) {
    if (p == 0 || p > kMaxParameter) return false;
  }
  const uint32_t paddings[] = {table.padding_top(), table.padding_right(), table.padding_bottom(),
                               table.padding_left()};
  for (uint32_t p : paddings) {
    if (p > kMaxParameter) return false;
  }
  return true;
}

bool is_step(uint32_t step) { return step >= 1 && step <= kMaxParameter; }

template <typename Table>
bool has_strides(const Table& table) {
  return is_step(table.stride_height()) && is_step(table.stride_width());
}
template <typename Table>
bool has_dilations(const Table& table) {
  return is_step(table.dilation_height()) && is_step(table.dilation_width());
}

// The number of windows that fit along a dimension.
uint32_t windows(uint32_t size, uint32_t before, uint32_t after, uint32_t kernel, uint32_t dilation,
                 uint32_t stride) {
  const uint64_t padded = uint64_t{size} + before + after;
  const uint64_t reach = uint64_t{kernel - 1} * dilation + 1;
  return padded < reach ? 0 : static_cast<uint32_t>((padded - reach) / stride + 1);
}

bool is_shape(const Shape& shape, uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
  return shape.rank == 4 && shape.dims[0] == a && shape.dims[1] == b && shape.dims[2] == c &&
         shape.dims[3] == d;
}

Status check_convolution(const XnnNode& node, Span<const XnnValue> values) {
  const auto& t = node.as<Convolution>();
  const uint32_t counts[] = {t.group_input_channels(), t.group_output_channels(), t.groups()};
  for (uint32_t c : counts) {
    TAPER_XNNPACK_REQUIRE(c >= 1 && c <= kMaxParameter,
                          "convolution: a count of channels is out of range");
  }
  TAPER_XNNPACK_REQUIRE(
      is_window(t, t.kernel_height(), t.kernel_width()) && has_strides(t) && has_dilations(t),
      "convolution: a stride, dilation, padding or the kernel is out of range");
  TAPER_TRY(check_filter(node, values));
  const XnnValue& filter = input(node, values, 1);
  TAPER_XNNPACK_REQUIRE(filter.data != nullptr, "convolution: the filter is not constant");
  const XnnValue& x = input(node, values);
  TAPER_XNNPACK_REQUIRE(x.type != DataType::QDINT8 || x.nonbatch_dims == 3,
                        "convolution: the input is not quantised image by image");
  if (node.inputs[2] == kNone) return {};
  const XnnValue& bias = input(node, values, 2);
  TAPER_XNNPACK_REQUIRE(
      bias.data != nullptr &&
          element_count(bias.declared) == uint64_t{t.groups()} * t.group_output_channels(),
      "convolution: the bias does not fit, or is not constant");
  return {};
}

Status check_dense(const XnnNode& node, Span<const XnnValue> values) {
  TAPER_TRY(check_convolution(node, values));
  const auto& t = node.as<Convolution>();
  const XnnValue& filter = input(node, values, 1);
  TAPER_XNNPACK_REQUIRE(is_shape(filter.declared, uint64_t{t.groups()} * t.group_output_channels(),
                                 t.kernel_height(), t.kernel_width(), t.group_input_channels()),
                        "convolution: the filter is not [out, height, width, in]");
  TAPER_XNNPACK_REQUIRE(filter.scale_count == 0 || filter.channel_dim == 0,
                        "convolution: the scales are not those of the output channels");
  return {};
}

Status check_depthwise(const XnnNode& node, Span<const XnnValue> values) {
  TAPER_TRY(check_convolution(node, values));
  const auto& t = node.as<Convolution>();
  const XnnValue& filter = input(node, values, 1);
  TAPER_XNNPACK_REQUIRE(t.group_input_channels() == 1 &&
                            is_shape(filter.declared, 1, t.kernel_height(), t.kernel_width(),
                                     uint64_t{t.groups()} * t.group_output_channels()),
                        "depthwise convolution: the filter is not [1, height, width, channels]");
  TAPER_XNNPACK_REQUIRE(filter.scale_count == 0 || filter.channel_dim == 3,
                        "depthwise convolution: the scales are not those of the output channels");
  TAPER_XNNPACK_REQUIRE(input(node, values).type != DataType::QDINT8,
                        "depthwise convolution: the input has an unsupported type");
  return {};
}

Status infer_convolution(const XnnNode& node, Span<XnnValue> values) {
  const auto& t = node.as<Convolution>();
  const Shape& x = input(node, values).shape;
  TAPER_XNNPACK_REQUIRE(x.rank == 4 && x.dims[3] == uint64_t{t.groups()} * t.group_input_channels(),
                        "convolution: the input does not have as many channels as the filter");
  const uint32_t height = windows(x.dims[1], t.padding_top(), t.padding_bottom(), t.kernel_height(),
                                  t.dilation_height(), t.stride_height());
  const uint32_t width = windows(x.dims[2], t.padding_left(), t.padding_right(), t.kernel_width(),
                                 t.dilation_width(), t.stride_width());
  TAPER_XNNPACK_REQUIRE(height > 0 && width > 0,
                        "convolution: the input is smaller than the kernel");
  output(node, values).shape = {4,
                                {x.dims[0], height, width, t.groups() * t.group_output_channels()}};
  return {};
}

// The size of a dimension after a transposed convolution; 0 if it is not valid.
uint64_t spread(uint32_t size, uint32_t before, uint32_t after, uint32_t adjustment,
                uint32_t kernel, uint32_t dilation, uint32_t stride) {
  const uint64_t whole =
      uint64_t{stride} * (size - 1) + adjustment + uint64_t{kernel - 1} * dilation + 1;
  return whole <= uint64_t{before} + after ? 0 : whole - before - after;
}

Status infer_transposed(const XnnNode& node, Span<XnnValue> values) {
  const auto& t = node.as<Convolution>();
  const Shape& x = input(node, values).shape;
  TAPER_XNNPACK_REQUIRE(
      x.rank == 4 && x.dims[3] == uint64_t{t.groups()} * t.group_input_channels(),
      "transposed convolution: the input does not have as many channels as the filter");
  const uint64_t height =
      spread(x.dims[1], t.padding_top(), t.padding_bottom(), t.adjustment_height(),
             t.kernel_height(), t.dilation_height(), t.stride_height());
  const uint64_t width =
      spread(x.dims[2], t.padding_left(), t.padding_right(), t.adjustment_width(), t.kernel_width(),
             t.dilation_width(), t.stride_width());
  TAPER_XNNPACK_REQUIRE(height > 0 && width > 0 && height <= UINT32_MAX && width <= UINT32_MAX,
                        "transposed convolution: the result is empty or too large");
  output(node, values).shape = {
      4,
      {x.dims[0], static_cast<uint32_t>(height), static_cast<uint32_t>(width),
       t.groups() * t.group_output_channels()}};
  return {};
}

Status check_transposed(const XnnNode& node, Span<const XnnValue> values) {
  const auto& t = node.as<Convolution>();
  TAPER_TRY(check_dense(node, values));
  TAPER_XNNPACK_REQUIRE(
      t.adjustment_height() < t.stride_height() && t.adjustment_width() < t.stride_width(),
      "transposed convolution: the output padding is not less than the stride");
  return {};
}

xnn_status define_convolution(xnn_subgraph_t graph, const XnnNode& node,
                              Span<const XnnValue> values) {
  const auto& t = node.as<Convolution>();
  return xnn_define_convolution_2d(
      graph, t.padding_top(), t.padding_right(), t.padding_bottom(), t.padding_left(),
      t.kernel_height(), t.kernel_width(), t.stride_height(), t.stride_width(), t.dilation_height(),
      t.dilation_width(), t.groups(), t.group_input_channels(), t.group_output_channels(), node.min,
      node.max, in_id(node, values, 0), in_id(node, values, 1), in_id(node, values, 2),
      out_id(node, values), 0);
}

xnn_status define_depthwise(xnn_subgraph_t graph, const XnnNode& node,
                            Span<const XnnValue> values) {
  const auto& t = node.as<Convolution>();
  return xnn_define_depthwise_convolution_2d(
      graph, t.padding_top(), t.padding_right(), t.padding_bottom(), t.padding_left(),
      t.kernel_height(), t.kernel_width(), t.stride_height(), t.stride_width(), t.dilation_height(),
      t.dilation_width(), t.group_output_channels(), t.groups(), node.min, node.max,
      in_id(node, values, 0), in_id(node, values, 1), in_id(node, values, 2), out_id(node, values),
      0);
}

xnn_status define_transposed(xnn_subgraph_t graph, const XnnNode& node,
                             Span<const XnnValue> values) {
  const auto& t = node.as<Convolution>();
  return xnn_define_deconvolution_2d(
      graph, t.padding_top(), t.padding_right(), t.padding_bottom(), t.padding_left(),
      t.adjustment_height(), t.adjustment_width(), t.kernel_height(), t.kernel_width(),
      t.stride_height(), t.stride_width(), t.dilation_height(), t.dilation_width(), t.groups(),
      t.group_input_channels(), t.group_output_channels(), node.min, node.max,
      in_id(node, values, 0), in_id(node, values, 1), in_id(node, values, 2), out_id(node, values),
      0);
}

Status check_max_pool(const XnnNode& node, Span<const XnnValue> values) {
  const auto& t = node.as<wire::Pooling>();
  TAPER_XNNPACK_REQUIRE(
      is_window(t, t.pooling_height(), t.pooling_width()) && has_strides(t) && has_dilations(t),
      "max pool: a stride, dilation, padding or the window is out of range");
  return check_numbers(node, values);
}

// Files may have a dilation of 0, which means 1.
Status check_mean_pool(const XnnNode& node, Span<const XnnValue> values) {
  const auto& t = node.as<wire::Pooling>();
  TAPER_XNNPACK_REQUIRE(is_window(t, t.pooling_height(), t.pooling_width()) && has_strides(t) &&
                            t.dilation_height() <= 1 && t.dilation_width() <= 1,
                        "average pool: a stride, padding or the window is out of range");
  return check_floats(node, values);
}

Status infer_pool(const XnnNode& node, Span<XnnValue> values) {
  const auto& t = node.as<wire::Pooling>();
  const Shape& x = input(node, values).shape;
  TAPER_XNNPACK_REQUIRE(x.rank == 4, "pool: the input is not an image");
  const uint32_t height =
      windows(x.dims[1], t.padding_top(), t.padding_bottom(), t.pooling_height(),
              std::max(1u, t.dilation_height()), t.stride_height());
  const uint32_t width = windows(x.dims[2], t.padding_left(), t.padding_right(), t.pooling_width(),
                                 std::max(1u, t.dilation_width()), t.stride_width());
  TAPER_XNNPACK_REQUIRE(height > 0 && width > 0, "pool: the input is smaller than the window");
  output(node, values).shape = {4, {x.dims[0], height, width, x.dims[3]}};
  return {};
}

Status infer_max_pool(const XnnNode& node, Span<XnnValue> values) {
  TAPER_TRY(infer_pool(node, values));
  TAPER_XNNPACK_REQUIRE(has_declared_channels(node, values),
                        "max pool: the number of channels is not the one that the file declares");
  return {};
}

xnn_status define_max_pool(xnn_subgraph_t graph, const XnnNode& node, Span<const XnnValue> values) {
  const auto& t = node.as<wire::Pooling>();
  return xnn_define_max_pooling_2d(graph, t.padding_top(), t.padding_right(), t.padding_bottom(),
                                   t.padding_left(), t.pooling_height(), t.pooling_width(),
                                   t.stride_height(), t.stride_width(), t.dilation_height(),
                                   t.dilation_width(), node.min, node.max, in_id(node, values),
                                   out_id(node, values), 0);
}

xnn_status define_mean_pool(xnn_subgraph_t graph, const XnnNode& node,
                            Span<const XnnValue> values) {
  const auto& t = node.as<wire::Pooling>();
  return xnn_define_average_pooling_2d(
      graph, t.padding_top(), t.padding_right(), t.padding_bottom(), t.padding_left(),
      t.pooling_height(), t.pooling_width(), t.stride_height(), t.stride_width(), node.min,
      node.max, in_id(node, values), out_id(node, values), 0);
}

Status infer_global(const XnnNode& node, Span<XnnValue> values) {
  const Shape& x = input(node, values).shape;
  TAPER_XNNPACK_REQUIRE(x.rank >= 3, "global pool: the input is not an image");
  Shape y = x;
  if ((node.flags & kKeepDims) != 0) {
    y.dims[x.rank - 3] = y.dims[x.rank - 2] = 1;
  } else {
    y.rank = x.rank - 2;
    y.dims[y.rank - 1] = x.last();
  }
  output(node, values).shape = y;
  return {};
}

Status check_global(const XnnNode& node, Span<const XnnValue> values) {
  const bool may_add = is_in_floats(node, values) && !has_bounds(node);
  TAPER_XNNPACK_REQUIRE((node.flags & kSumFlag) == 0 || may_add,
                        "global pool: sums are supported only for floats without bounds");
  return check_numbers(node, values);
}

// The deprecated function is the only way to define a clamped mean.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
xnn_status define_global(xnn_subgraph_t graph, const XnnNode& node, Span<const XnnValue> values) {
  if ((node.flags & kSumFlag) != 0) {
    const size_t rank = input(node, values).shape.rank;
    const size_t area[] = {rank - 3, rank - 2};
    return xnn_define_static_reduce(graph, xnn_reduce_sum, 2, area, in_id(node, values),
                                    out_id(node, values), node.flags & ~kSumFlag);
  }
  return xnn_define_global_average_pooling_2d(graph, node.min, node.max, in_id(node, values),
                                              out_id(node, values), node.flags);
}
#pragma GCC diagnostic pop

uint64_t convolution_window(const XnnNode& node) {
  const auto& t = node.as<Convolution>();
  return uint64_t{t.kernel_height()} * t.kernel_width();
}
uint64_t pool_window(const XnnNode& node) {
  const auto& t = node.as<wire::Pooling>();
  return uint64_t{t.pooling_height()} * t.pooling_width();
}

constexpr NodeKindEntry kTable[] = {
    {NodeContent::Conv2d,
     {"convolution", convolution_arguments, 2, 0, check_dense, infer_convolution,
      define_convolution, convolution_window}},
    {NodeContent::DepthwiseConv2d,
     {"depthwise convolution", convolution_arguments, 2, 0, check_depthwise, infer_convolution,
      define_depthwise, convolution_window}},
    {NodeContent::ConvTranspose2d,
     {"transposed convolution", convolution_arguments, 2, 0, check_transposed, infer_transposed,
      define_transposed, convolution_window}},
    {NodeContent::MaxPool2d,
     {"max pool", one_input<wire::Pooling>, 1, kKeepDims, check_max_pool, infer_max_pool,
      define_max_pool, pool_window}},
    {NodeContent::AvgPool2d,
     {"average pool", one_input<wire::Pooling>, 1, kKeepDims, check_mean_pool, infer_pool,
      define_mean_pool, pool_window}},
    {NodeContent::GlobalAvgPool2d,
     {"global average pool", one_input<wire::Unary>, 1, kKeepDims | kSumFlag, check_global,
      infer_global, define_global}},
};

}  // namespace

const Span<const NodeKindEntry> kWindowKinds{kTable};

}  // namespace taper::xnnpack
