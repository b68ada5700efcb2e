// Finds a node's kind, and holds what the kinds share.

#include "backends/xnnpack/runtime/node_kinds.h"

namespace taper::xnnpack {

using wire::DataType;

const NodeKind* find_kind(wire::NodeContent content) {
  const Span<const NodeKindEntry> tables[] = {kElementKinds, kMatrixKinds, kWindowKinds,
                                              kMovementKinds};
  for (const Span<const NodeKindEntry>& table : tables) {
    for (const NodeKindEntry& entry : table) {
      if (entry.content == content) return &entry.kind;
    }
  }
  return nullptr;
}

void two_inputs(Node& node) {
  const wire::Binary& table = node.as<wire::Binary>();
  node.inputs[0] = table.input1();
  node.inputs[1] = table.input2();
  node.output = table.output();
  node.flags = table.flags();
}

namespace {

bool all_are(const Node& node, Span<const Value> values, DataType type) {
  for (uint32_t id : node.inputs) {
    if (id != kNone && values[id].type != type) return false;
  }
  return values[node.output].type == type;
}

}  // namespace

Status check_floats(const Node& node, Span<const Value> values) {
  const DataType type = input(node, values).type;
  TAPER_XNNPACK_REQUIRE(
      (type == DataType::FP32 || type == DataType::FP16) && all_are(node, values, type),
      "a node of the XNNPACK graph has arguments of types that it does not take");
  return {};
}

Status check_numbers(const Node& node, Span<const Value> values) {
  const DataType type = input(node, values).type;
  const bool fits = type == DataType::FP32 || type == DataType::FP16 || type == DataType::QINT8 ||
                    type == DataType::QUINT8;
  TAPER_XNNPACK_REQUIRE(fits && all_are(node, values, type),
                        "a node of the XNNPACK graph has arguments of types that it does not take");
  return {};
}

bool is_list_of(const flatbuffers::Vector<uint32_t>* list, uint32_t rank) {
  return list != nullptr && list->size() == rank && rank <= kMaxRank;
}

}  // namespace taper::xnnpack
