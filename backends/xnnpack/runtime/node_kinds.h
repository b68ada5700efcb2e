// The one table of what a delegate can compute: for every kind of node of the schema how its
// arguments are read, which types and shapes it takes, and how XNNPACK is told.

#pragma once

#include "backends/xnnpack/runtime/graph.h"

// XNNPACK's own header, whose deprecated functions are not used.
#include <xnnpack.h>

namespace taper::xnnpack {

struct NodeKind {
  const char* name;
  // Which values the node reads and writes, and its flags.
  void (*arguments)(Node& node);
  uint8_t required;  // So many arguments must be there.
  uint32_t allowed_flags;
  // Once, when the payload is read: types, constants, parameters.
  Status (*check)(const Node& node, Span<const Value> values);
  // Whenever sizes change: the shapes of the results, and whether those of the arguments fit.
  Status (*infer)(const Node& node, Span<Value> values);
  xnn_status (*define)(xnn_subgraph_t graph, const Node& node, Span<const Value> values);
  // The pixels of a window, for kinds that have one.
  uint64_t (*window)(const Node& node) = nullptr;
};

// Null if there is no such kind.
const NodeKind* find_kind(wire::NodeContent content);

// The kinds, by what they are about.
struct NodeKindEntry {
  wire::NodeContent content;
  NodeKind kind;
};
extern const Span<const NodeKindEntry> kElementKinds;
extern const Span<const NodeKindEntry> kMatrixKinds;
extern const Span<const NodeKindEntry> kWindowKinds;
extern const Span<const NodeKindEntry> kMovementKinds;

// Shared by the kinds.
inline const Value& input(const Node& node, Span<const Value> values, size_t i = 0) {
  return values[node.inputs[i]];
}
inline Value& output(const Node& node, Span<Value> values) { return values[node.output]; }
inline uint32_t id_of(uint32_t value, Span<const Value> values) {
  return value == kNone ? XNN_INVALID_VALUE_ID : values[value].xnn_id;
}
inline uint32_t in_id(const Node& node, Span<const Value> values, size_t i = 0) {
  return id_of(node.inputs[i], values);
}
inline uint32_t out_id(const Node& node, Span<const Value> values) {
  return id_of(node.output, values);
}

// Of a constant of floats.
inline const float* floats_of(const Value& value) {
  return static_cast<const float*>(static_cast<const void*>(value.data));
}
// Whether the result is held within bounds.
bool has_bounds(const Node& node);
// A reshape of which more than one size is open, which XNNPACK does not have.
bool is_open_reshape(const Node& node);
// Whether all that it reads and writes is float32.
bool is_in_floats(const Node& node, Span<const Value> values);

template <typename Table>
void one_input(Node& node) {
  const Table& table = node.as<Table>();
  node.inputs[0] = table.input();
  node.output = table.output();
  node.flags = table.flags();
}
void two_inputs(Node& node);

// All arguments and results have one type: a float, a float or a quantised byte.
Status check_floats(const Node& node, Span<const Value> values);
Status check_numbers(const Node& node, Span<const Value> values);
// What the node multiplies its input with has a type that goes with those of the input and result.
Status check_filter(const Node& node, Span<const Value> values);            // A convolution's.
Status check_connected_filter(const Node& node, Span<const Value> values);  // Weights of a layer.
// A vector of the payload with as many items as `rank` says, which fits.
bool is_list_of(const flatbuffers::Vector<uint32_t>* list, uint32_t rank);

}  // namespace taper::xnnpack
