// Reads the constants as doubles, computes the new weights and bias, and rounds them once.

#include "exir/passes/simplify/fold_batch_norm.h"

#include <cmath>
#include <cstring>
#include <optional>
#include <unordered_map>

#include "exir/ir/rewrite.h"
#include "exir/ir/scales.h"
#include "kernels_portable/engine/half.h"

namespace taper::exir {
namespace {

using Doubles = std::vector<double>;

double read_element(const uint8_t* at, ScalarType type) {
  if (type == ScalarType::kFloat) {
    float value;
    std::memcpy(&value, at, sizeof(value));
    return static_cast<double>(value);
  }
  if (type == ScalarType::kDouble) {
    double value;
    std::memcpy(&value, at, sizeof(value));
    return value;
  }
  uint16_t bits;
  std::memcpy(&bits, at, sizeof(bits));
  return static_cast<double>(type == ScalarType::kHalf
                                 ? portable::half_to_float(portable::Half{bits})
                                 : portable::bfloat16_to_float(portable::BFloat16{bits}));
}

void write_element(uint8_t* at, ScalarType type, double value) {
  if (type == ScalarType::kDouble) {
    std::memcpy(at, &value, sizeof(value));
    return;
  }
  const auto single = static_cast<float>(value);
  if (type == ScalarType::kFloat) {
    std::memcpy(at, &single, sizeof(single));
    return;
  }
  const uint16_t bits = type == ScalarType::kHalf ? portable::float_to_half(single).bits
                                                  : portable::float_to_bfloat16(single).bits;
  std::memcpy(at, &bits, sizeof(bits));
}

// The elements of a contiguous floating-point constant; nullopt for any other argument.
std::optional<Doubles> numbers(const Argument& arg) {
  if (!arg.is_value()) return std::nullopt;
  const Value& value = *arg.value();
  if (value.role != ValueRole::kConstant || !is_floating(value.type.dtype)) return std::nullopt;
  if (!value.type.is_contiguous()) return std::nullopt;
  const size_t width = element_size(value.type.dtype);
  const TensorData data = elements_of(value);
  Doubles out(data.bytes / width);
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = read_element(data.data + i * width, value.type.dtype);
  }
  return out;
}

Value* named(Value* folded, const Value& like) {
  if (!like.fqn.empty()) folded->fqn = like.fqn + "." + folded->name;
  return folded;
}

Value* new_weights(Rewriter& rewriter, const Value& like, TensorType type,
                   std::vector<uint8_t> bytes) {
  return named(rewriter.graph().new_constant(like.name + "_folded", std::move(type),
                                             own_bytes(std::move(bytes))),
               like);
}

std::vector<uint8_t> to_bytes(const Doubles& data, ScalarType type) {
  const size_t width = element_size(type);
  std::vector<uint8_t> bytes(data.size() * width);
  for (size_t i = 0; i < data.size(); ++i) write_element(&bytes[i * width], type, data[i]);
  return bytes;
}

// `count` elements times `factor`, computed in double and rounded once.
void scale_elements(const uint8_t* in, uint8_t* out, size_t count, ScalarType type, double factor) {
  const size_t width = element_size(type);
  for (size_t i = 0; i < count; ++i) {
    write_element(out + i * width, type, read_element(in + i * width, type) * factor);
  }
}

// How often each value is used, outputs and mutations included.
std::unordered_map<const Value*, int> count_uses(const Graph& graph) {
  std::unordered_map<const Value*, int> uses;
  const auto use = [&](const Value* value) { ++uses[value]; };
  for (const auto& node : graph.nodes) for_each_value(*node, use);
  for (const Argument& output : graph.outputs) for_each_value(output, use);
  for (const Mutation& mutation : graph.mutations) use(mutation.source);
  return uses;
}

// Both forms of a convolution: as exported, and in Core ATen.
bool is_convolution(const Node& node) {
  const std::string_view name = node.target();
  return name == "aten::convolution" || name.starts_with("aten::conv1d") ||
         name.starts_with("aten::conv2d") || name.starts_with("aten::conv3d") ||
         name.starts_with("aten::conv_transpose");
}

bool is_transposed(const Node& node) {
  return node.is("aten::convolution") ? node.arg("transposed").to_bool()
                                      : node.target().starts_with("aten::conv_transpose");
}

bool is_fixed_norm(const Node& node) {
  if (node.is("aten::batch_norm")) {
    const Argument& training = node.arg("training");
    return training.is<bool>() && !training.to_bool();
  }
  return node.is("aten::_native_batch_norm_legit_no_training") && node.outputs.size() == 3;
}

// Computes w' and b' (see the header) for a convolution and its batch norm.
class Folder {
 public:
  Folder(const Node& convolution, const Node& norm) : convolution_(convolution), norm_(norm) {}

  bool prepare() {
    const auto mean = numbers(norm_.arg("running_mean"));
    const auto variance = numbers(norm_.arg("running_var"));
    if (!is_foldable_weight() || !mean || !variance) return false;
    channels_ = mean->size();
    const auto bias = optional_numbers(convolution_.arg("bias"), 0);
    const auto gain = optional_numbers(norm_.arg("weight"), 1);
    const auto shift = optional_numbers(norm_.arg("bias"), 0);
    if (!bias || !gain || !shift || variance->size() != channels_) return false;
    const double eps = norm_.arg("eps").to_double();
    scale_.resize(channels_);
    bias_.resize(channels_);
    for (size_t c = 0; c < channels_; ++c) {
      scale_[c] = (*gain)[c] / std::sqrt((*variance)[c] + eps);
      bias_[c] = ((*bias)[c] - (*mean)[c]) * scale_[c] + (*shift)[c];
      if (!std::isfinite(scale_[c]) || !std::isfinite(bias_[c])) return false;
    }
    return true;
  }

  // Replaces both nodes by a convolution with the new weights.
  void emit(Rewriter& rewriter) const {
    const Value& weight = *convolution_.arg("weight").value();
    const Argument& bias = convolution_.arg("bias");
    std::vector<Argument> args = convolution_.args;
    if (const auto scales = scaled_integers(weight)) {
      args[1] = named(new_constant(rewriter.graph(), weight.name + "_folded", weight.type, scales),
                      weight);
    } else {
      args[1] = new_weights(rewriter, weight, weight.type, scaled_weight(weight));
    }
    const TensorType bias_type =
        bias.is_value() ? bias.value()->type
                        : TensorType(weight.type.dtype, {Sym(static_cast<int64_t>(channels_))});
    args[2] =
        new_weights(rewriter, bias.is_value() ? *bias.value() : *norm_.arg("running_mean").value(),
                    bias_type, to_bytes(bias_, bias_type.dtype));
    Value* result = rewriter.emit(convolution_.target(), args, {norm_.outputs[0]->type})[0];
    result->producer->name = convolution_.name;
    rewriter.replace(norm_.outputs[0], result);
  }

 private:
  std::optional<Doubles> optional_numbers(const Argument& arg, double otherwise) const {
    if (arg.is_none()) return Doubles(channels_, otherwise);
    auto out = numbers(arg);
    if (out && out->size() != channels_) return std::nullopt;
    return out;
  }

  // Output channels are the first dimension of a weight; for a transposed convolution they are
  // groups times its second dimension.
  bool is_foldable_weight() {
    const Argument& arg = convolution_.arg("weight");
    if (!arg.is_value() || arg.value()->role != ValueRole::kConstant) return false;
    const Value& weight = *arg.value();
    const TensorType& type = weight.type;
    if (!is_floating(type.dtype) || !type.is_contiguous() || type.rank() < 3) return false;
    first_ = static_cast<size_t>(type.sizes[0].as_int());
    second_ = static_cast<size_t>(type.sizes[1].as_int());
    const int64_t groups = convolution_.arg("groups").to_int();
    if (weight.data.bytes == 0 || groups < 1 || first_ % static_cast<size_t>(groups) != 0) {
      return false;
    }
    transposed_ = is_transposed(convolution_);
    per_group_ = first_ / static_cast<size_t>(groups);
    const auto channels = numbers(norm_.arg("running_mean"));
    return channels &&
           channels->size() == (transposed_ ? second_ * static_cast<size_t>(groups) : first_);
  }

  // Integers stay as they are, if each of their scales belongs to one channel. Null if not.
  std::shared_ptr<const Scales> scaled_integers(const Value& weight) const {
    if (weight.scales == nullptr || weight.type.dtype != ScalarType::kFloat) return nullptr;
    const Scales& old = *weight.scales;
    const size_t block = old.integers.bytes / (first_ * second_);
    const size_t row = transposed_ ? block : block * second_;  // Of one channel.
    const bool has_one = old.items.size() == 1;
    const bool has_own = has_one || old.items.size() * old.span == row * channels_;
    if (!has_own || (transposed_ && per_group_ != first_)) return nullptr;
    auto made = std::make_shared<Scales>(old);
    if (has_one) made->span = row;
    if (made->span == 0 || row % made->span != 0) return nullptr;
    const size_t per_row = row / made->span;
    if (has_one) {
      made->items.resize(channels_, old.items[0]);
      if (!old.zero_points.empty()) made->zero_points.resize(channels_, old.zero_points[0]);
    }
    for (size_t i = 0; i < made->items.size(); ++i) {
      made->items[i] = static_cast<float>(double{made->items[i]} * scale_[i / per_row]);
    }
    return made;
  }

  std::vector<uint8_t> scaled_weight(const Value& weight) const {
    const TensorData data = elements_of(weight);
    std::vector<uint8_t> out(data.bytes);
    const size_t block = out.size() / (first_ * second_);
    const size_t count = block / element_size(weight.type.dtype);
    for (size_t row = 0; row < first_; ++row) {
      for (size_t column = 0; column < second_; ++column) {
        const size_t at = (row * second_ + column) * block;
        const size_t channel = transposed_ ? row / per_group_ * second_ + column : row;
        scale_elements(data.data + at, &out[at], count, weight.type.dtype, scale_[channel]);
      }
    }
    return out;
  }

  const Node& convolution_;
  const Node& norm_;
  size_t channels_ = 0;
  size_t first_ = 0, second_ = 0, per_group_ = 0;  // Sizes of the weight.
  bool transposed_ = false;
  Doubles scale_, bias_;
};

}  // namespace

int fold_batch_norm(Graph& graph) {
  const auto uses = count_uses(graph);
  const auto used = [&](const Value* value) {
    const auto found = uses.find(value);
    return found == uses.end() ? 0 : found->second;
  };
  const int folded = rewrite(graph, [&](Node& node, Rewriter& rewriter) {
    if (!is_fixed_norm(node)) return false;
    for (size_t i = 1; i < node.outputs.size(); ++i) {
      if (used(node.outputs[i]) != 0) return false;
    }
    const Node* convolution = node.args[0].value()->producer;
    if (convolution == nullptr || !is_convolution(*convolution)) return false;
    if (used(node.args[0].value()) != 1) return false;
    Folder folder(*convolution, node);
    if (!folder.prepare()) return false;
    folder.emit(rewriter);
    return true;
  });
  if (folded != 0) erase_dead(graph);
  return folded;
}

}  // namespace taper::exir
