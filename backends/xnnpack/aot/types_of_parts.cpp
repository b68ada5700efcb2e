// Several nodes may come from one node of the part; the most telling text counts.

#include "backends/xnnpack/aot/types_of_parts.h"

#include <algorithm>

#include "backends/xnnpack/aot/stored_integers.h"

namespace taper::xnnpack {
namespace {

using wire::DataType;

std::string weight_text(DataType type) {
  switch (type) {
    case DataType::QCINT4:
    case DataType::QBINT4:
      return "int4 weights";
    case DataType::FP32:
      return "float32 weights";
    default:
      return "int8 weights";
  }
}

// Whether a constant of floats that was made of integers is large.
bool were_integers(const ValueSpec& value) {
  if (value.constant == 0 || value.integers == nullptr) return false;
  uint64_t count = 1;
  for (const exir::Sym& size : value.dims) count *= static_cast<uint64_t>(size.as_int());
  return count * sizeof(float) > kSmallFloats;
}

bool are_stored(const ValueSpec& value) { return value.stored.bytes.data != nullptr; }

std::string type_of(const NodeList& list, const NodeSpec& node) {
  const auto type = [&](Id id) { return list.values[id].quantization.type; };
  const DataType in = type(node.inputs[0]), out = type(node.output);
  if (node.kind == wire::NodeContent::Convert) return "";
  const bool has_weights = node.inputs.size() > 1 && node.inputs[1] != kNone;
  const DataType weights = has_weights ? type(node.inputs[1]) : DataType::FP32;
  const bool has_halves = weights != DataType::FP32 && are_stored(list.values[node.inputs[1]]);
  const std::string stored = has_halves              ? ", weights stored as int4"
                             : node.has_wide_weights ? ", weights with zero points in parts"
                                                     : "";
  if (in == DataType::QDINT8) {
    return "int8 rows" + (stored.empty() ? ", " + weight_text(weights) : stored);
  }
  if (out != DataType::FP32 || in != DataType::FP32) return "int8" + stored;
  if (weights != DataType::FP32 && list.values[node.inputs[1]].constant != 0) {
    return "float32" + (has_halves ? stored : ", " + weight_text(weights));
  }
  if (has_weights && are_stored(list.values[node.inputs[1]])) {
    const ValueSpec& stored = list.values[node.inputs[1]];
    const bool halves = stored.stored.type == DataType::QCINT4;
    const bool are_codes = !stored.integers->table.empty();
    return std::string("float32, weights stored as ") +
           (are_codes ? halves ? "4-bit floats" : "8-bit floats"
            : halves  ? "int4"
                      : "int8");
  }
  if (has_weights && were_integers(list.values[node.inputs[1]])) {
    return "float32, weights stored as float32";
  }
  return "float32";
}

std::string text_of(const NodeList& list, const NodeSpec& node) {
  const std::string type = type_of(list, node);
  return node.why_floats.empty() ? type : type + ": " + node.why_floats;
}

}  // namespace

std::vector<std::string> types_of_parts(const NodeList& list, const std::vector<bool>& live) {
  const bool any = std::any_of(list.values.begin(), list.values.end(), [](const ValueSpec& value) {
    return value.quantization.type != DataType::FP32 || value.made_from != nullptr ||
           value.integers != nullptr;
  });
  std::vector<std::string> texts;
  for (size_t i = 0; any && i < list.nodes.size(); ++i) {
    const NodeSpec& node = list.nodes[i];
    if (!live[i] || node.origin == 0) continue;
    if (texts.size() < node.origin) texts.resize(node.origin);
    std::string text = text_of(list, node);
    std::string& known = texts[node.origin - 1];
    if (text.size() > known.size()) known = std::move(text);
  }
  return texts;
}

}  // namespace taper::xnnpack
