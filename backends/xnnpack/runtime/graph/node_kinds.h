// The table of what a delegate can compute: for every kind of node of the schema how its arguments
// are read, which types and shapes it supports, and how it is defined in XNNPACK.

#pragma once

#include "backends/xnnpack/runtime/graph/subgraph.h"

// XNNPACK's own header, whose deprecated functions are not used.
#include <xnnpack.h>

namespace taper::xnnpack {

struct NodeKind {
  const char* name;
  // Sets the values that the node reads and writes, and its flags.
  void (*arguments)(XnnNode& node);
  uint8_t required;  // The number of arguments that must be present.
  uint32_t allowed_flags;
  // Checks types, constants and parameters; called once, when the payload is read.
  Status (*check)(const XnnNode& node, Span<const XnnValue> values);
  // Checks the shapes of the arguments and sets those of the results; called whenever sizes change.
  Status (*infer)(const XnnNode& node, Span<XnnValue> values);
  // Defines the node in XNNPACK's graph.
  xnn_status (*define)(xnn_subgraph_t graph, const XnnNode& node, Span<const XnnValue> values);
  // The number of pixels of a window, for kinds that have one.
  uint64_t (*window)(const XnnNode& node) = nullptr;
  // The number of intermediate values of the result's size, for kinds that XNNPACK computes by
  // several nodes.
  uint8_t intermediates = 0;
  // Whether XNNPACK leaves out arguments that are empty, instead of refusing them.
  bool takes_empty = false;
};

// The kind of a node's content, or null.
const NodeKind* find_kind(wire::NodeContent content);

// The kinds, in a table for each group.
struct NodeKindEntry {
  wire::NodeContent content;
  NodeKind kind;
};
extern const Span<const NodeKindEntry> kElementKinds;
extern const Span<const NodeKindEntry> kMatrixKinds;
extern const Span<const NodeKindEntry> kWindowKinds;
extern const Span<const NodeKindEntry> kMovementKinds;
extern const Span<const NodeKindEntry> kTaperKinds;

// A shape in XNNPACK's form.
struct XnnDims {
  explicit XnnDims(const Shape& shape) : rank(shape.rank) {
    for (size_t d = 0; d < rank; ++d) sizes[d] = shape.dims[d];
  }
  size_t rank;
  size_t sizes[kMaxRank] = {};
};

// Helpers for all kinds: a node's values, and their ids in XNNPACK.
inline const XnnValue& input(const XnnNode& node, Span<const XnnValue> values, size_t i = 0) {
  return values[node.inputs[i]];
}
inline XnnValue& output(const XnnNode& node, Span<XnnValue> values) { return values[node.output]; }
// Whether an image has the channels that its file declares. For some kinds XNNPACK computes where
// the pixels lie once, and again only for another height or width.
inline bool has_declared_channels(const XnnNode& node, Span<const XnnValue> values) {
  return input(node, values).shape.dims[3] == input(node, values).declared.dims[3];
}
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
// Whether the result is clamped.
bool has_bounds(const XnnNode& node);
// Whether the node is a reshape with several dynamic sizes, which XNNPACK does not support.
bool is_open_reshape(const XnnNode& node);
// Whether the second argument is the filter of a layer or a convolution.
bool has_filter(const XnnNode& node);
// Whether the filter of such a node and its bias, if it has one, are constants, and its input is
// not.
bool has_constant_filter(const XnnNode& node, Span<const XnnValue> values);
// Whether all arguments and the result are float32.
bool is_in_floats(const XnnNode& node, Span<const XnnValue> values);

template <typename Table>
void one_input(XnnNode& node) {
  const Table& table = node.as<Table>();
  node.inputs[0] = table.input();
  node.output = table.output();
  node.flags = table.flags();
}
void two_inputs(XnnNode& node);

// Check that all arguments and the result have the same type: a float, or a float or quantised
// byte.
Status check_floats(const XnnNode& node, Span<const XnnValue> values);
Status check_numbers(const XnnNode& node, Span<const XnnValue> values);
// Check that the types of input, filter and result are compatible.
Status check_filter(const XnnNode& node, Span<const XnnValue> values);  // For a convolution.
Status check_connected_filter(const XnnNode& node,
                              Span<const XnnValue> values);  // For a layer.
// Whether the list exists and has `rank` items, at most kMaxRank.
bool is_list_of(const flatbuffers::Vector<uint32_t>* list, uint32_t rank);

}  // namespace taper::xnnpack
