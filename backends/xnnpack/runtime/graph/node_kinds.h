// The one table of what a delegate can compute: for every kind of node of the schema how its
// arguments are read, which types and shapes it takes, and how XNNPACK is told.

#pragma once

#include "backends/xnnpack/runtime/graph/subgraph.h"

// XNNPACK's own header, whose deprecated functions are not used.
#include <xnnpack.h>

namespace taper::xnnpack {

struct NodeKind {
  const char* name;
  // Which values the node reads and writes, and its flags.
  void (*arguments)(XnnNode& node);
  uint8_t required;  // The first so many arguments must be present.
  uint32_t allowed_flags;
  // Once, when the payload is read: types, constants, parameters.
  Status (*check)(const XnnNode& node, Span<const XnnValue> values);
  // Whenever sizes change: the shapes of the results, and whether those of the arguments fit.
  Status (*infer)(const XnnNode& node, Span<XnnValue> values);
  xnn_status (*define)(xnn_subgraph_t graph, const XnnNode& node, Span<const XnnValue> values);
  // The pixels of a window, for kinds that have one.
  uint64_t (*window)(const XnnNode& node) = nullptr;
  // How many values of the result's size it has inside XNNPACK's graph, for kinds that XNNPACK
  // computes by several nodes.
  uint8_t intermediates = 0;
};

// The kind with that number, or null.
const NodeKind* find_kind(wire::NodeContent content);

// The kinds, one table for each group of them.
struct NodeKindEntry {
  wire::NodeContent content;
  NodeKind kind;
};
extern const Span<const NodeKindEntry> kElementKinds;
extern const Span<const NodeKindEntry> kMatrixKinds;
extern const Span<const NodeKindEntry> kWindowKinds;
extern const Span<const NodeKindEntry> kMovementKinds;
extern const Span<const NodeKindEntry> kTaperKinds;

// A shape as XNNPACK takes it.
struct XnnDims {
  explicit XnnDims(const Shape& shape) : rank(shape.rank) {
    for (size_t d = 0; d < rank; ++d) sizes[d] = shape.dims[d];
  }
  size_t rank;
  size_t sizes[kMaxRank] = {};
};

// What the kinds share.
inline const XnnValue& input(const XnnNode& node, Span<const XnnValue> values, size_t i = 0) {
  return values[node.inputs[i]];
}
inline XnnValue& output(const XnnNode& node, Span<XnnValue> values) { return values[node.output]; }
inline uint32_t id_of(uint32_t value, Span<const XnnValue> values) {
  return value == kNone ? XNN_INVALID_VALUE_ID : values[value].xnn_id;
}
inline uint32_t in_id(const XnnNode& node, Span<const XnnValue> values, size_t i = 0) {
  return id_of(node.inputs[i], values);
}
inline uint32_t out_id(const XnnNode& node, Span<const XnnValue> values) {
  return id_of(node.output, values);
}

// The numbers of a constant of floats.
inline const float* floats_of(const XnnValue& value) {
  return static_cast<const float*>(static_cast<const void*>(value.data));
}
// Whether the result is held within bounds.
bool has_bounds(const XnnNode& node);
// A reshape of which more than one size is open, which XNNPACK does not have.
bool is_open_reshape(const XnnNode& node);
// Whether all that it reads and writes is float32.
bool is_in_floats(const XnnNode& node, Span<const XnnValue> values);

template <typename Table>
void one_input(XnnNode& node) {
  const Table& table = node.as<Table>();
  node.inputs[0] = table.input();
  node.output = table.output();
  node.flags = table.flags();
}
void two_inputs(XnnNode& node);

// All arguments and results have one type: a float, a float or a quantised byte.
Status check_floats(const XnnNode& node, Span<const XnnValue> values);
Status check_numbers(const XnnNode& node, Span<const XnnValue> values);
// What the node multiplies its input with has a type that goes with those of the input and result.
Status check_filter(const XnnNode& node, Span<const XnnValue> values);  // For a convolution.
Status check_connected_filter(const XnnNode& node,
                              Span<const XnnValue> values);  // For a layer.
// Whether the list is there and has `rank` items, and not more than kMaxRank.
bool is_list_of(const flatbuffers::Vector<uint32_t>* list, uint32_t rank);

}  // namespace taper::xnnpack
