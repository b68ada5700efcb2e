// Finds a node's kind, and has the functions that the kinds share.

#include "backends/xnnpack/runtime/graph/node_kinds.h"

#include <cmath>

namespace taper::xnnpack {

using wire::DataType;

const NodeKind* find_kind(wire::NodeContent content) {
  const Span<const NodeKindEntry> tables[] = {kElementKinds, kMatrixKinds, kWindowKinds,
                                              kMovementKinds, kTaperKinds};
  for (const Span<const NodeKindEntry>& table : tables) {
    for (const NodeKindEntry& entry : table) {
      if (entry.content == content) return &entry.kind;
    }
  }
  return nullptr;
}

bool has_bounds(const XnnNode& node) { return node.min > -INFINITY || node.max < INFINITY; }

bool is_in_floats(const XnnNode& node, Span<const XnnValue> values) {
  for (uint32_t id : node.inputs) {
    if (id != kNone && values[id].type != DataType::FP32) return false;
  }
  return values[node.output].type == DataType::FP32;
}

void two_inputs(XnnNode& node) {
  const wire::Binary& table = node.as<wire::Binary>();
  node.inputs[0] = table.input1();
  node.inputs[1] = table.input2();
  node.output = table.output();
  node.flags = table.flags();
}

namespace {

bool all_are(const XnnNode& node, Span<const XnnValue> values, DataType type) {
  for (uint32_t id : node.inputs) {
    if (id != kNone && values[id].type != type) return false;
  }
  return values[node.output].type == type;
}

}  // namespace

Status check_floats(const XnnNode& node, Span<const XnnValue> values) {
  const DataType type = input(node, values).type;
  TAPER_XNNPACK_REQUIRE(
      (type == DataType::FP32 || type == DataType::FP16) && all_are(node, values, type),
      "a node of the XNNPACK graph has arguments of unsupported types");
  return {};
}

Status check_numbers(const XnnNode& node, Span<const XnnValue> values) {
  const DataType type = input(node, values).type;
  const bool fits = type == DataType::FP32 || type == DataType::FP16 || type == DataType::QINT8 ||
                    type == DataType::QUINT8;
  TAPER_XNNPACK_REQUIRE(fits && all_are(node, values, type),
                        "a node of the XNNPACK graph has arguments of unsupported types");
  return {};
}

namespace {

// The supported combinations of types. XNNPACK would abort on others.
struct FilterTypes {
  DataType input, filter, output;
};
constexpr FilterTypes kFilters[] = {
    {DataType::FP32, DataType::FP32, DataType::FP32},
    {DataType::FP16, DataType::FP32, DataType::FP16},
    {DataType::QINT8, DataType::QINT8, DataType::QINT8},
    {DataType::QINT8, DataType::QCINT8, DataType::QINT8},
    {DataType::QUINT8, DataType::QUINT8, DataType::QUINT8},
    {DataType::QDINT8, DataType::QCINT8, DataType::FP32},
    {DataType::QDINT8, DataType::QCINT8, DataType::FP16},
};
constexpr FilterTypes kMoreOfLayers[] = {
    {DataType::FP16, DataType::FP16, DataType::FP16},
    {DataType::FP32, DataType::QCINT8, DataType::FP32},
    {DataType::FP32, DataType::QCINT4, DataType::FP32},
    {DataType::QDINT8, DataType::QCINT4, DataType::FP32},
    {DataType::QDINT8, DataType::QCINT4, DataType::FP16},
    {DataType::QDINT8, DataType::QBINT4, DataType::FP32},
    {DataType::QDINT8, DataType::QBINT4, DataType::FP16},
};

bool is_among(Span<const FilterTypes> known, const XnnNode& node, Span<const XnnValue> values) {
  for (const FilterTypes& types : known) {
    if (types.input == input(node, values).type && types.filter == input(node, values, 1).type &&
        types.output == values[node.output].type) {
      return true;
    }
  }
  return false;
}

}  // namespace

Status check_filter(const XnnNode& node, Span<const XnnValue> values) {
  TAPER_XNNPACK_REQUIRE(is_among(kFilters, node, values),
                        "the types of a convolution's input, filter and result are incompatible");
  return {};
}

Status check_connected_filter(const XnnNode& node, Span<const XnnValue> values) {
  TAPER_XNNPACK_REQUIRE(is_among(kFilters, node, values) || is_among(kMoreOfLayers, node, values),
                        "the types of a layer's input, weights and result are incompatible");
  return {};
}

bool has_constant_filter(const XnnNode& node, Span<const XnnValue> values) {
  const uint32_t bias = node.inputs[2];
  return input(node, values).data == nullptr && input(node, values, 1).data != nullptr &&
         (bias == kNone || values[bias].data != nullptr);
}

bool has_filter(const XnnNode& node) {
  switch (node.content_type) {
    case wire::NodeContent::FullyConnected:
    case wire::NodeContent::Conv2d:
    case wire::NodeContent::DepthwiseConv2d:
    case wire::NodeContent::ConvTranspose2d:
      return true;
    default:
      return false;
  }
}

bool is_list_of(const flatbuffers::Vector<uint32_t>* list, uint32_t rank) {
  return list != nullptr && list->size() == rank && rank <= kMaxRank;
}

}  // namespace taper::xnnpack
