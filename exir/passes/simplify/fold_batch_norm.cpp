// Reads the constants as doubles, computes the new weights and bias, and rounds them once.

#include "exir/passes/simplify/fold_batch_norm.h"

#include <cmath>
#include <optional>
#include <unordered_map>

#include "exir/ir/rewrite.h"
#include "exir/ir/scales.h"
#include "exir/passes/simplify/floating_constants.h"

namespace taper::exir {
namespace {

Value* new_weights(Rewriter& rewriter, const Value& like, TensorType type,
                   std::vector<uint8_t> bytes) {
  return named_after(rewriter.graph().new_constant(like.name + "_folded", std::move(type),
                                                   own_bytes(std::move(bytes))),
                     like);
}

// `count` elements times `factor`, computed in double and rounded once.
void scale_elements(const uint8_t* in, uint8_t* out, size_t count, ScalarType type, double factor) {
  const size_t width = element_size(type);
  for (size_t i = 0; i < count; ++i) {
    write_element(out + i * width, type, read_element(in + i * width, type) * factor);
  }
}

// Both forms of a convolution: as exported, and in Core ATen.
bool is_convolution(const Node& node) {
  const std::string_view name = node.target();
  return name == "aten::convolution" || name.starts_with("aten::conv1d") ||
         name.starts_with("aten::conv2d") || name.starts_with("aten::conv3d") ||
         name.starts_with("aten::conv_transpose");
}

bool is_linear(const Node& node) { return node.is("aten::linear"); }

bool is_view(const Node& node) { return node.is("aten::view") || node.is("aten::view_copy"); }

bool is_transposed(const Node& node) {
  if (is_linear(node)) return false;
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

// The channels of a batch norm that a layer before it makes: all, or those of one part of a
// concatenation. A count of 0 means all.
struct Channels {
  size_t first = 0, count = 0;
};

// Computes w' and b' (see the header) for a layer and its batch norm.
class Folder {
 public:
  Folder(const Node& layer, const Node& norm, Channels channels = {})
      : layer_(layer), norm_(norm), part_(channels) {}

  bool prepare() {
    const std::optional<FixedNorm> norm = read_fixed_norm(norm_);
    if (!norm) return false;
    if (part_.count == 0) part_ = {0, norm->mean.size()};
    if (!is_foldable_weight() || part_.first + part_.count > norm->mean.size()) return false;
    channels_ = part_.count;
    const Argument& own_bias = layer_.arg("bias");
    const auto bias = own_bias.is_none() ? Doubles(channels_, 0) : read_doubles(own_bias);
    if (!bias || bias->size() != channels_) return false;
    scale_.resize(channels_);
    bias_.resize(channels_);
    for (size_t c = 0; c < channels_; ++c) {
      const size_t at = part_.first + c;
      scale_[c] = norm->scale[at];
      bias_[c] = ((*bias)[c] - norm->mean[at]) * scale_[c] + norm->shift[at];
      if (!std::isfinite(scale_[c]) || !std::isfinite(bias_[c])) return false;
    }
    return true;
  }

  // The result of the layer with the new weights.
  Value* emit(Rewriter& rewriter) const {
    const Value& weight = *layer_.arg("weight").value();
    const Argument& bias = layer_.arg("bias");
    std::vector<Argument> args = layer_.args;
    if (const auto scales = scaled_integers(weight)) {
      args[1] = named_after(
          new_constant(rewriter.graph(), weight.name + "_folded", weight.type, scales), weight);
    } else {
      args[1] = new_weights(rewriter, weight, weight.type, scaled_weight(weight));
    }
    const TensorType bias_type =
        bias.is_value() ? bias.value()->type
                        : TensorType(weight.type.dtype, {Sym(static_cast<int64_t>(channels_))});
    args[2] =
        new_weights(rewriter, bias.is_value() ? *bias.value() : *norm_.arg("running_mean").value(),
                    bias_type, to_bytes(bias_, bias_type.dtype));
    Value* result = rewriter.emit(layer_.target(), args, {layer_.outputs[0]->type})[0];
    result->producer->name = layer_.name;
    return result;
  }

 private:
  // Output channels are the first dimension of a weight; for a transposed convolution they are
  // groups times its second dimension.
  bool is_foldable_weight() {
    const Argument& arg = layer_.arg("weight");
    if (!arg.is_value() || arg.value()->role != ValueRole::kConstant) return false;
    const Value& weight = *arg.value();
    const TensorType& type = weight.type;
    if (!is_floating(type.dtype) || !type.is_contiguous()) return false;
    const size_t rank =
        layer_.outputs[0]->type.rank();  // An image alone has no batch to normalise.
    if (is_linear(layer_) ? type.rank() != 2 || weight.scales != nullptr : type.rank() != rank) {
      return false;
    }
    first_ = static_cast<size_t>(type.sizes[0].as_int());
    second_ = static_cast<size_t>(type.sizes[1].as_int());
    const int64_t groups = is_linear(layer_) ? 1 : layer_.arg("groups").to_int();
    if (weight.data.bytes == 0 || groups < 1 || first_ % static_cast<size_t>(groups) != 0) {
      return false;
    }
    transposed_ = is_transposed(layer_);
    per_group_ = first_ / static_cast<size_t>(groups);
    return part_.count == (transposed_ ? second_ * static_cast<size_t>(groups) : first_);
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

  const Node& layer_;
  const Node& norm_;
  Channels part_;
  size_t channels_ = 0;
  size_t first_ = 0, second_ = 0, per_group_ = 0;  // Sizes of the weight.
  bool transposed_ = false;
  Doubles scale_, bias_;
};

// Looks for what is before a batch norm.
class Search {
 public:
  explicit Search(const Graph& graph) : uses_(count_uses(graph)) {}

  bool fold(const Node& norm, Rewriter& rewriter) const {
    if (!is_fixed_norm(norm)) return false;
    for (size_t i = 1; i < norm.outputs.size(); ++i) {
      if (uses_.count(norm.outputs[i]) != 0) return false;
    }
    const Node* before = maker(norm.args[0]);
    if (before == nullptr) return false;
    if (before->is("aten::cat")) return fold_parts(norm, *before, rewriter);
    Value* result = nullptr;
    if (is_view(*before)) {
      result = fold_rows(norm, *before, rewriter);
    } else if (makes_channels(*before, norm.args[0].value()->type)) {
      Folder folder(*before, norm);
      if (folder.prepare()) result = folder.emit(rewriter);
    }
    if (result != nullptr) rewriter.replace(norm.outputs[0], result);
    return result != nullptr;
  }

 private:
  // The node whose result a tensor is, if nothing else reads it.
  const Node* maker(const Argument& tensor) const {
    const auto found = uses_.find(tensor.value());
    return found != uses_.end() && found->second == 1 ? tensor.value()->producer : nullptr;
  }

  // Whether the channels of a norm's input are those that the layer makes.
  static bool makes_channels(const Node& layer, const TensorType& input) {
    return is_convolution(layer) || (is_linear(layer) && input.rank() == 2);
  }

  // A linear layer over [n, tokens, features] is normalised as [n * tokens, features].
  Value* fold_rows(const Node& norm, const Node& view, Rewriter& rewriter) const {
    const Node* layer = maker(view.args[0]);
    const TensorType& rows = view.outputs[0]->type;
    if (layer == nullptr || !is_linear(*layer) || !makes_channels(*layer, rows)) return nullptr;
    if (layer->outputs[0]->type.sizes.back() != rows.sizes.back()) return nullptr;
    Folder folder(*layer, norm);
    if (!folder.prepare()) return nullptr;
    std::vector<Argument> args = view.args;
    args[0] = folder.emit(rewriter);
    return rewriter.emit(view.target(), args, {rows})[0];
  }

  // Each convolution of a concatenation of channels has its part of the norm.
  bool fold_parts(const Node& norm, const Node& cat, Rewriter& rewriter) const {
    const Argument& dim = cat.arg("dim");
    if (!dim.is_int() || dim.to_int() != 1) return false;
    std::vector<Folder> folders;
    size_t first = 0;
    for (const Argument& item : cat.args[0].list()) {
      const Node* layer = item.is_value() ? maker(item) : nullptr;
      if (layer == nullptr || !is_convolution(*layer)) return false;
      const Sym& channels = item.value()->type.sizes[1];
      if (!channels.is_int()) return false;
      const Channels part = {first, static_cast<size_t>(channels.as_int())};
      folders.emplace_back(*layer, norm, part);
      if (part.count == 0 || !folders.back().prepare()) return false;
      first += part.count;
    }
    Argument::List parts;
    for (const Folder& folder : folders) parts.emplace_back(folder.emit(rewriter));
    std::vector<Argument> args = cat.args;
    args[0] = std::move(parts);
    rewriter.replace(norm.outputs[0],
                     rewriter.emit(cat.target(), args, {norm.outputs[0]->type})[0]);
    return true;
  }

  std::unordered_map<const Value*, int> uses_;
};

}  // namespace

int fold_batch_norm(Graph& graph) {
  const Search search(graph);
  const int folded = rewrite(
      graph, [&](const Node& node, Rewriter& rewriter) { return search.fold(node, rewriter); });
  if (folded != 0) erase_dead(graph);
  return folded;
}

}  // namespace taper::exir
