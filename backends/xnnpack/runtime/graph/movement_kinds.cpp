// Kinds of nodes that move elements without changing them: transposes, reshapes, slices, paddings,
// concatenations; and the bilinear resize.

#include "backends/xnnpack/runtime/graph/node_kinds.h"

namespace taper::xnnpack {
namespace {

using wire::NodeContent;

constexpr uint32_t kMaxPadding = 1u << 24;
constexpr uint32_t kMaxImage = 1u << 16;

Status check_transpose(const XnnNode& node, Span<const XnnValue> values) {
  const auto& t = node.as<wire::Transpose>();
  const uint32_t rank = input(node, values).declared.rank;
  TAPER_XNNPACK_REQUIRE(t.rank() == rank && rank > 0 && is_list_of(t.perm(), rank),
                        "transpose: the permutation does not fit the input");
  uint32_t seen = 0;
  for (uint32_t d : *t.perm()) seen |= d < rank ? 1u << d : 0;
  TAPER_XNNPACK_REQUIRE(seen == (1u << rank) - 1,
                        "transpose: the dimensions are not a permutation");
  return check_numbers(node, values);
}

Status infer_transpose(const XnnNode& node, Span<XnnValue> values) {
  const auto& perm = *node.as<wire::Transpose>().perm();
  const Shape x = input(node, values).shape;
  TAPER_XNNPACK_REQUIRE(x.rank == perm.size(), "transpose: the permutation does not fit the input");
  Shape& y = output(node, values).shape;
  y = x;
  for (uint32_t d = 0; d < x.rank; ++d) y.dims[d] = x.dims[perm.Get(d)];
  return {};
}

xnn_status define_transpose(xnn_subgraph_t graph, const XnnNode& node,
                            Span<const XnnValue> values) {
  const auto& perm = *node.as<wire::Transpose>().perm();
  size_t dims[kMaxRank] = {};
  for (uint32_t d = 0; d < perm.size(); ++d) dims[d] = perm.Get(d);
  return xnn_define_static_transpose(graph, perm.size(), dims, in_id(node, values),
                                     out_id(node, values), 0);
}

Status check_reshape(const XnnNode& node, Span<const XnnValue> values) {
  const auto& t = node.as<wire::Reshape>();
  TAPER_XNNPACK_REQUIRE(is_list_of(t.sizes(), t.rank()), "reshape: there are too many sizes");
  if (t.sources() == nullptr) return check_numbers(node, values);
  TAPER_XNNPACK_REQUIRE(t.sources()->size() == t.rank() && input(node, values).data == nullptr,
                        "reshape: the sources of its sizes do not fit");
  for (const wire::SizeSource* source : *t.sources()) {
    if (source->value() == kNone) continue;
    TAPER_XNNPACK_REQUIRE(source->value() < values.size() && source->value() != node.output &&
                              values[source->value()].is_known && source->over() > 0,
                          "reshape: a size comes from a value that has not been computed");
  }
  return check_numbers(node, values);
}

// The current size from a source; 0 if it is not a valid size.
uint32_t size_from(const wire::SizeSource& source, Span<const XnnValue> values) {
  const Shape& shape = values[source.value()].shape;
  if (source.dim() >= shape.rank) return 0;
  const uint64_t product = uint64_t{shape.dims[source.dim()]} * source.times();
  const uint64_t size = product / source.over();
  return product % source.over() == 0 && size <= UINT32_MAX ? static_cast<uint32_t>(size) : 0;
}

Status infer_reshape(const XnnNode& node, Span<XnnValue> values) {
  const auto& sizes = *node.as<wire::Reshape>().sizes();
  const auto* sources = node.as<wire::Reshape>().sources();
  const uint64_t count = element_count(input(node, values).shape);
  Shape y;
  y.rank = sizes.size();
  uint32_t open = kNone;
  for (uint32_t d = 0; d < y.rank; ++d) {
    y.dims[d] = sizes.Get(d);
    if (y.dims[d] != 0) continue;
    if (sources != nullptr && sources->Get(d)->value() != kNone) {
      y.dims[d] = size_from(*sources->Get(d), values);
      continue;
    }
    TAPER_XNNPACK_REQUIRE(open == kNone, "reshape: more than one size would have to be inferred");
    open = d;
    y.dims[d] = 1;
  }
  const uint64_t known = element_count(y);
  if (known == 0 && count == 0 && open == kNone) {  // Sizes from an input without elements.
    output(node, values).shape = y;
    return {};
  }
  TAPER_XNNPACK_REQUIRE(known > 0 && count % known == 0 && (open != kNone || count == known) &&
                            count / known <= UINT32_MAX,
                        "reshape: the result has another number of elements than the input");
  if (open != kNone) y.dims[open] = static_cast<uint32_t>(count / known);
  output(node, values).shape = y;
  return {};
}

// XNNPACK does not support a reshape with several dynamic sizes; see move_stage.h.
xnn_status define_reshape(xnn_subgraph_t graph, const XnnNode& node, Span<const XnnValue> values) {
  if (is_open_reshape(node)) return xnn_status_unsupported_parameter;
  const auto& sizes = *node.as<wire::Reshape>().sizes();
  size_t dims[kMaxRank] = {};
  for (uint32_t d = 0; d < sizes.size(); ++d) dims[d] = sizes.Get(d);
  return xnn_define_static_reshape(graph, sizes.size(), dims, in_id(node, values),
                                   out_id(node, values), 0);
}

Status check_slice(const XnnNode& node, Span<const XnnValue> values) {
  const auto& t = node.as<wire::Slice>();
  const uint32_t rank = input(node, values).declared.rank;
  TAPER_XNNPACK_REQUIRE(
      t.rank() == rank && rank > 0 && is_list_of(t.offsets(), rank) && is_list_of(t.sizes(), rank),
      "slice: the offsets and sizes do not fit the input");
  return check_numbers(node, values);
}

Status infer_slice(const XnnNode& node, Span<XnnValue> values) {
  const auto& t = node.as<wire::Slice>();
  const Shape x = input(node, values).shape;
  TAPER_XNNPACK_REQUIRE(x.rank == t.rank(), "slice: the offsets and sizes do not fit the input");
  Shape& y = output(node, values).shape;
  y = x;
  for (uint32_t d = 0; d < x.rank; ++d) {
    const uint32_t offset = t.offsets()->Get(d);
    const uint32_t size = t.sizes()->Get(d);
    TAPER_XNNPACK_REQUIRE(size == 0 ? offset == 0 : uint64_t{offset} + size <= x.dims[d],
                          "slice: it extends past the end of the input");
    if (size != 0) y.dims[d] = size;
  }
  return {};
}

xnn_status define_slice(xnn_subgraph_t graph, const XnnNode& node, Span<const XnnValue> values) {
  const auto& t = node.as<wire::Slice>();
  size_t offsets[kMaxRank] = {}, sizes[kMaxRank] = {};
  for (uint32_t d = 0; d < t.rank(); ++d) {
    offsets[d] = t.offsets()->Get(d);
    sizes[d] = t.sizes()->Get(d);
  }
  return xnn_define_static_slice(graph, t.rank(), offsets, sizes, in_id(node, values),
                                 out_id(node, values), 0);
}

Status check_pad(const XnnNode& node, Span<const XnnValue> values) {
  const auto& t = node.as<wire::ConstantPad>();
  const uint32_t rank = input(node, values).declared.rank;
  TAPER_XNNPACK_REQUIRE(rank > 0 && is_list_of(t.pre(), rank) && is_list_of(t.post(), rank),
                        "constant pad: the paddings do not fit the input");
  for (uint32_t d = 0; d < rank; ++d) {
    TAPER_XNNPACK_REQUIRE(t.pre()->Get(d) <= kMaxPadding && t.post()->Get(d) <= kMaxPadding,
                          "constant pad: a padding is out of range");
  }
  return check_numbers(node, values);
}

Status infer_pad(const XnnNode& node, Span<XnnValue> values) {
  const auto& t = node.as<wire::ConstantPad>();
  const Shape x = input(node, values).shape;
  TAPER_XNNPACK_REQUIRE(x.rank == t.pre()->size(),
                        "constant pad: the paddings do not fit the input");
  Shape& y = output(node, values).shape;
  y = x;
  for (uint32_t d = 0; d < x.rank; ++d) {
    const uint64_t size = uint64_t{x.dims[d]} + t.pre()->Get(d) + t.post()->Get(d);
    TAPER_XNNPACK_REQUIRE(size <= UINT32_MAX, "constant pad: the result is too large");
    y.dims[d] = static_cast<uint32_t>(size);
  }
  return {};
}

xnn_status define_pad(xnn_subgraph_t graph, const XnnNode& node, Span<const XnnValue> values) {
  const auto& t = node.as<wire::ConstantPad>();
  size_t pre[kMaxRank] = {}, post[kMaxRank] = {};
  for (uint32_t d = 0; d < t.pre()->size(); ++d) {
    pre[d] = t.pre()->Get(d);
    post[d] = t.post()->Get(d);
  }
  return xnn_define_static_constant_pad(graph, pre, post, t.value(), in_id(node, values),
                                        out_id(node, values), 0);
}

template <size_t kCount>
void concatenate_arguments(XnnNode& node) {
  const auto& t = node.as<wire::Concatenate>();
  const uint32_t inputs[] = {t.input1(), t.input2(), t.input3(), t.input4(), t.input5()};
  for (size_t i = 0; i < kCount; ++i) node.inputs[i] = inputs[i];
  node.output = t.output();
  node.flags = t.flags();
}

Status check_concatenate(const XnnNode& node, Span<const XnnValue> values) {
  TAPER_XNNPACK_REQUIRE(node.as<wire::Concatenate>().axis() < input(node, values).declared.rank,
                        "concatenate: the inputs have no such dimension");
  return check_numbers(node, values);
}

Status infer_concatenate(const XnnNode& node, Span<XnnValue> values) {
  const uint32_t axis = node.as<wire::Concatenate>().axis();
  Shape y = input(node, values).shape;
  TAPER_XNNPACK_REQUIRE(axis < y.rank, "concatenate: the inputs have no such dimension");
  for (size_t i = 1; i < 5 && node.inputs[i] != kNone; ++i) {
    Shape other = input(node, values, i).shape;
    TAPER_XNNPACK_REQUIRE(other.rank == y.rank && other.dims[axis] <= UINT32_MAX - y.dims[axis],
                          "concatenate: the inputs do not fit");
    const uint32_t sum = y.dims[axis] + other.dims[axis];
    other.dims[axis] = y.dims[axis];
    TAPER_XNNPACK_REQUIRE(other == y, "concatenate: the inputs do not fit");
    y.dims[axis] = sum;
  }
  output(node, values).shape = y;
  return {};
}

template <size_t kCount>
xnn_status define_concatenate(xnn_subgraph_t graph, const XnnNode& node,
                              Span<const XnnValue> values) {
  const auto axis = static_cast<int32_t>(node.as<wire::Concatenate>().axis());
  uint32_t id[5];
  for (size_t i = 0; i < kCount; ++i) id[i] = in_id(node, values, i);
  const uint32_t out = out_id(node, values);
  if constexpr (kCount == 2) return xnn_define_concatenate2(graph, axis, id[0], id[1], out, 0);
  if constexpr (kCount == 3) {
    return xnn_define_concatenate3(graph, axis, id[0], id[1], id[2], out, 0);
  }
  if constexpr (kCount == 4) {
    return xnn_define_concatenate4(graph, axis, id[0], id[1], id[2], id[3], out, 0);
  }
  if constexpr (kCount == 5) {
    return xnn_define_concatenate5(graph, axis, id[0], id[1], id[2], id[3], id[4], out, 0);
  }
}

template <size_t kCount>
constexpr NodeKind concatenate() {
  NodeKind kind = {"concatenate",     concatenate_arguments<kCount>, kCount, 0, check_concatenate,
                   infer_concatenate, define_concatenate<kCount>};
  kind.takes_empty = true;
  return kind;
}

Status check_resize(const XnnNode& node, Span<const XnnValue> values) {
  const auto& t = node.as<wire::ResizeBilinear>();
  TAPER_XNNPACK_REQUIRE(t.new_height() >= 1 && t.new_width() >= 1 && t.new_height() <= kMaxImage &&
                            t.new_width() <= kMaxImage,
                        "resize: the new size is out of range");
  return check_numbers(node, values);
}

Status infer_resize(const XnnNode& node, Span<XnnValue> values) {
  const auto& t = node.as<wire::ResizeBilinear>();
  const Shape& x = input(node, values).shape;
  TAPER_XNNPACK_REQUIRE(x.rank == 4 && x.dims[1] <= kMaxImage && x.dims[2] <= kMaxImage,
                        "resize: the input is not an image, or too large to be resized");
  TAPER_XNNPACK_REQUIRE(has_declared_channels(node, values),
                        "resize: the number of channels is not the one that the file declares");
  output(node, values).shape = {4, {x.dims[0], t.new_height(), t.new_width(), x.dims[3]}};
  return {};
}

xnn_status define_resize(xnn_subgraph_t graph, const XnnNode& node, Span<const XnnValue> values) {
  const auto& t = node.as<wire::ResizeBilinear>();
  return xnn_define_static_resize_bilinear_2d(
      graph, t.new_height(), t.new_width(), in_id(node, values), out_id(node, values), node.flags);
}

constexpr NodeKind transpose() {
  NodeKind kind = {
      "transpose",     one_input<wire::Transpose>, 1, 0, check_transpose, infer_transpose,
      define_transpose};
  kind.takes_empty = true;
  return kind;
}

constexpr NodeKindEntry kTable[] = {
    {NodeContent::Transpose, transpose()},
    {NodeContent::Reshape,
     {"reshape", one_input<wire::Reshape>, 1, 0, check_reshape, infer_reshape, define_reshape}},
    {NodeContent::Slice,
     {"slice", one_input<wire::Slice>, 1, 0, check_slice, infer_slice, define_slice}},
    {NodeContent::ConstantPad,
     {"constant pad", one_input<wire::ConstantPad>, 1, 0, check_pad, infer_pad, define_pad}},
    {NodeContent::Concatenate2, concatenate<2>()},
    {NodeContent::Concatenate3, concatenate<3>()},
    {NodeContent::Concatenate4, concatenate<4>()},
    {NodeContent::Concatenate5, concatenate<5>()},
    {NodeContent::ResizeBilinear,
     {"resize", one_input<wire::ResizeBilinear>, 1, XNN_FLAG_ALIGN_CORNERS, check_resize,
      infer_resize, define_resize}},
};

}  // namespace

const Span<const NodeKindEntry> kMovementKinds{kTable};

bool is_open_reshape(const XnnNode& node) {
  return node.kind->infer == infer_reshape && node.as<wire::Reshape>().sources() != nullptr;
}

}  // namespace taper::xnnpack
