// Matrix products: fully connected layers, whose weights are the second matrix, [out, in], and
// batches of products of two computed matrices.

#include "backends/xnnpack/runtime/graph/node_kinds.h"

namespace taper::xnnpack {
namespace {

using wire::DataType;
using wire::NodeContent;

constexpr uint32_t kTransposed = XNN_FLAG_TRANSPOSE_WEIGHTS;

void connected_arguments(XnnNode& node) {
  const auto& table = node.as<wire::FullyConnected>();
  node.inputs[0] = table.input();
  node.inputs[1] = table.filter();
  node.inputs[2] = table.bias();
  node.output = table.output();
  node.flags = table.flags();
}

uint32_t in_channels(const XnnNode& node, const XnnValue& filter) {
  return filter.shape.dims[(node.flags & kTransposed) != 0 ? 0 : 1];
}
uint32_t out_channels(const XnnNode& node, const XnnValue& filter) {
  return filter.shape.dims[(node.flags & kTransposed) != 0 ? 1 : 0];
}

Status check_connected(const XnnNode& node, Span<const XnnValue> values) {
  const XnnValue& x = input(node, values);
  const XnnValue& filter = input(node, values, 1);
  TAPER_TRY(check_connected_filter(node, values));
  TAPER_XNNPACK_REQUIRE(filter.declared.rank == 2, "fully connected: the filter is not a matrix");
  TAPER_XNNPACK_REQUIRE(filter.data != nullptr || filter.type == DataType::FP32,
                        "fully connected: the filter is not constant");
  // Quantisation parameters are computed for each row.
  TAPER_XNNPACK_REQUIRE(x.type != DataType::QDINT8 || x.nonbatch_dims == 1,
                        "fully connected: the input is not quantised row by row");
  const bool plain = filter.type == DataType::FP32 || filter.type == DataType::FP16 ||
                     filter.type == DataType::QINT8 || filter.type == DataType::QUINT8;
  TAPER_XNNPACK_REQUIRE((node.flags & kTransposed) == 0 || plain,
                        "fully connected: transposed weights of this type are not supported");
  const uint32_t channel_dim = (node.flags & kTransposed) != 0 ? 1 : 0;
  TAPER_XNNPACK_REQUIRE(filter.scale_count == 0 || filter.channel_dim == channel_dim,
                        "fully connected: the scales are not those of the output channels");
  if (node.inputs[2] == kNone) return {};
  const XnnValue& bias = input(node, values, 2);
  TAPER_XNNPACK_REQUIRE(bias.data != nullptr || bias.type == DataType::FP32,
                        "fully connected: the bias is not constant");
  return {};
}

Status infer_connected(const XnnNode& node, Span<XnnValue> values) {
  const Shape& x = input(node, values).shape;
  const XnnValue& filter = input(node, values, 1);
  TAPER_XNNPACK_REQUIRE(x.rank >= 1 && x.last() == in_channels(node, filter),
                        "fully connected: the filter does not fit the input");
  const uint32_t channels = out_channels(node, filter);
  TAPER_XNNPACK_REQUIRE(
      node.inputs[2] == kNone || element_count(input(node, values, 2).shape) == channels,
      "fully connected: the bias does not fit the filter");
  Shape& y = output(node, values).shape;
  y = x;
  y.dims[y.rank - 1] = channels;
  return {};
}

xnn_status define_connected(xnn_subgraph_t graph, const XnnNode& node,
                            Span<const XnnValue> values) {
  return xnn_define_fully_connected(graph, node.min, node.max, in_id(node, values, 0),
                                    in_id(node, values, 1), in_id(node, values, 2),
                                    out_id(node, values), node.flags);
}

Status check_product(const XnnNode& node, Span<const XnnValue> values) {
  const XnnValue& a = input(node, values, 0);
  TAPER_XNNPACK_REQUIRE(a.type == DataType::FP32 || a.type == DataType::FP16,
                        "matrix product: the arguments have an unsupported type");
  return check_floats(node, values);
}

Status infer_product(const XnnNode& node, Span<XnnValue> values) {
  const Shape& a = input(node, values, 0).shape;
  const Shape& b = input(node, values, 1).shape;
  TAPER_XNNPACK_REQUIRE(a.rank >= 2 && b.rank >= 2, "matrix product: an argument is not a matrix");
  const bool is_transposed = (node.flags & XNN_FLAG_TRANSPOSE_B) != 0;
  const uint32_t rows = b.dims[b.rank - (is_transposed ? 1 : 2)];
  const uint32_t columns = b.dims[b.rank - (is_transposed ? 2 : 1)];
  TAPER_XNNPACK_REQUIRE(a.last() == rows, "matrix product: the matrices do not fit");
  Shape y = a.rank >= b.rank ? a : b;
  for (uint32_t d = 3; d <= y.rank; ++d) {
    const uint32_t m = d <= a.rank ? a.dims[a.rank - d] : 1;
    const uint32_t n = d <= b.rank ? b.dims[b.rank - d] : 1;
    TAPER_XNNPACK_REQUIRE(m == n || m == 1 || n == 1, "matrix product: the batches do not fit");
    y.dims[y.rank - d] = m == 1 ? n : m;
  }
  y.dims[y.rank - 2] = a.dims[a.rank - 2];
  y.dims[y.rank - 1] = columns;
  output(node, values).shape = y;
  return {};
}

xnn_status define_product(xnn_subgraph_t graph, const XnnNode& node, Span<const XnnValue> values) {
  return xnn_define_batch_matrix_multiply(graph, in_id(node, values, 0), in_id(node, values, 1),
                                          out_id(node, values), node.flags);
}

constexpr NodeKindEntry kTable[] = {
    {NodeContent::FullyConnected,
     {"fully connected", connected_arguments, 2, kTransposed, check_connected, infer_connected,
      define_connected}},
    {NodeContent::BatchMatrixMultiply,
     {"matrix product", two_inputs, 2, XNN_FLAG_TRANSPOSE_B, check_product, infer_product,
      define_product}},
};

}  // namespace

const Span<const NodeKindEntry> kMatrixKinds{kTable};

}  // namespace taper::xnnpack
