// Between floats and bytes. compute_in_bytes makes of these and of what lies between them nodes that
// compute with the bytes.

#include <cmath>

#include "backends/xnnpack/aot/op_table.h"

namespace taper::xnnpack {
namespace {

using exir::Node;
using exir::Value;
using wire::NodeContent;

Quantization quantization_of(const Node& node) {
  Quantization how;
  how.type = wire::DataType::QINT8;
  how.scale = static_cast<float>(node.arg("scale").to_double());
  how.zero_point = static_cast<int32_t>(node.arg("zero_point").to_int());
  return how;
}

Id convert(Lowering& l, const Node& node, bool* image) {
  const Value* x = tensor(node);
  *image = l.is_image(x);
  NodeSpec spec;
  spec.kind = NodeContent::Convert;
  spec.inputs = {*image ? l.image(x) : l.plain(x)};
  Dims dims = l.out().dims(spec.inputs[0]);
  return l.out().add(std::move(spec), std::move(dims));
}

void quantize(Lowering& l, const Node& node) {
  bool image;
  const Id y = convert(l, node, &image);
  l.out().set_quantization(y, quantization_of(node));
  l.set_like(node.outputs[0], image, y);
}

// Bytes that come with the call have the scale that they are read with.
void dequantize(Lowering& l, const Node& node) {
  bool image;
  const Id y = convert(l, node, &image);
  l.out().set_quantization(l.out().maker(y)->inputs[0], quantization_of(node));
  l.set_like(node.outputs[0], image, y);
}

// XNNPACK's bytes have one scale.
bool is_read_as_made(const Node& node) {
  const Node* maker = tensor(node)->producer;
  if (maker == nullptr || !maker->is("quantized_decomposed::quantize_per_tensor")) return false;
  const auto is_same = [&](const char* name) {
    return is_known(maker->arg(name)) && maker->arg(name).to_double() == node.arg(name).to_double();
  };
  return is_same("scale") && is_same("zero_point");
}

std::string refusal(const Node& node) {
  const bool makes_bytes = node.is("quantized_decomposed::quantize_per_tensor");
  const Value* bytes = makes_bytes ? node.outputs[0] : tensor(node);
  const Value* floats = makes_bytes ? tensor(node) : node.outputs[0];
  if (bytes->type.dtype != ScalarType::kChar || floats->type.dtype != ScalarType::kFloat) {
    return "it is not between float32 and int8";
  }
  for (const char* name : {"scale", "zero_point", "quant_min", "quant_max"}) {
    if (!is_known(node.arg(name))) return "a scale or zero point is computed";
  }
  const auto scale = static_cast<float>(node.arg("scale").to_double());
  const int64_t zero_point = node.arg("zero_point").to_int();
  if (!std::isnormal(scale) || scale <= 0) return "the scale is no positive number";
  if (zero_point < -128 || zero_point > 127) return "the zero point is no byte";
  const bool whole =
      node.arg("quant_min").to_int() == -128 && node.arg("quant_max").to_int() == 127;
  if (makes_bytes) return whole ? "" : "its range is not that of a byte";
  return is_read_as_made(node) ? "" : "its bytes were not made with its scale";
}

constexpr OpRule kTable[] = {
    {"quantized_decomposed::quantize_per_tensor", refusal, quantize, 1, false, true},
    {"quantized_decomposed::dequantize_per_tensor", refusal, dequantize, 1, false, true},
};

}  // namespace

const std::span<const OpRule> kQuantizedRules{kTable};

}  // namespace taper::xnnpack
