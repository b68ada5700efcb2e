// Gathers the slices of volumes; see volume.h.

#include "backends/xnnpack/aot/volume.h"

#include <algorithm>
#include <cmath>

#include "backends/xnnpack/aot/compute_in_bytes.h"
#include "backends/xnnpack/aot/op_table.h"
#include "exir/ir/scales.h"

namespace taper::xnnpack {
namespace {

using exir::Node;
using exir::Sym;
using exir::Value;

// Adds slices of zeros.
Id padded(Lowering& l, Id x, int64_t before, int64_t after) {
  if (before == 0 && after == 0) return x;
  NodeSpec spec;
  spec.kind = wire::NodeContent::ConstantPad;
  spec.inputs = {x};
  spec.list = {0, static_cast<uint32_t>(before), 0, 0, 0};
  spec.list2 = {0, static_cast<uint32_t>(after), 0, 0, 0};
  Dims dims = l.out().dims(x);
  dims[1] = dims[1] + (before + after);
  return l.out().add(std::move(spec), std::move(dims));
}

// Puts the channels of each group next to each other, of `taps` slices that have all groups.
Id by_groups(Lowering& l, Id images, int64_t taps, int64_t groups) {
  if (taps == 1 || groups == 1) return images;
  const Dims dims = l.out().dims(images);
  const Id parts = l.reshape(
      images, {dims[0] * dims[1] * dims[2], taps, groups, dims[3].as_int() / (taps * groups)});
  return l.reshape(l.transpose(parts, {0, 2, 1, 3}), Dims(dims));
}

// Whether groups of some channels would be gathered of several slices, of floats or in vain.
bool has_deep_groups(const Node& node) {
  const Value* weight = tensor(node, "weight");
  const int64_t groups = node.arg("groups").to_int();
  if (groups == 1 || is_depthwise_filter(node) || volume_of(node) == Volume::kColumns ||
      weight->type.sizes[2] == Sym(1)) {
    return false;
  }
  return weight->scales == nullptr || weight->type.sizes[0].as_int() / groups < kFewestChannels;
}

// The slices that a transposed convolution reads at each position, the last one first.
std::vector<Id> transposed_images(Lowering& l, Id image, const Depth& depth) {
  const Dims dims = l.out().dims(image);
  const int64_t taps = depth.taps(), positions = depth.positions();
  const Id x = padded(l, image, taps - 1, std::max<int64_t>(0, positions - depth.in));
  std::vector<Id> slices;
  for (int64_t t = 0; t < taps; ++t) {
    const Id tap = l.slice(x, 1, taps - 1 - t, positions);
    slices.push_back(l.reshape(tap, {dims[0] * positions, dims[2], dims[3], dims[4]}));
  }
  return slices;
}

// Zeros that are added to a transposed volume would make NaN of weights that are not finite.
bool is_finite(const Value* weight) {
  const exir::TensorData elements = exir::elements_of(*weight);
  const auto* floats = reinterpret_cast<const float*>(elements.data);
  return std::all_of(floats, floats + elements.bytes / sizeof(float),
                     [](float each) { return std::isfinite(each); });
}

std::string transposed_refusal(const Node& node) {
  const Depth depth(node);
  if (node.arg("groups").to_int() != 1) return "it is transposed, of a volume in groups";
  if (depth.dilation != 1) return "it is transposed, of a volume with a dilated window";
  if (depth.kernel < depth.stride) return "it is transposed, of a volume with gaps between windows";
  return is_finite(tensor(node, "weight")) ? ""
                                           : "it is transposed, with weights that are not finite";
}

}  // namespace

Depth::Depth(const Node& node)
    : in(tensor(node)->type.sizes[2].as_int()),
      out(node.outputs[0]->type.sizes[2].as_int()),
      kernel(tensor(node, "weight")->type.sizes[2].as_int()),
      stride(ints_of(node.arg("stride"), 3)[0]),
      padding(ints_of(node.arg("padding"), 3)[0]),
      dilation(ints_of(node.arg("dilation"), 3)[0]),
      transposed(node.arg("transposed").to_bool()) {}

Volume volume_of(const Node& node) {
  if (tensor(node)->type.rank() != 5) return Volume::kNone;
  const Dims& window = tensor(node, "weight")->type.sizes;
  const auto stride = ints_of(node.arg("stride"), 3), padding = ints_of(node.arg("padding"), 3);
  bool is_column = window[2] != Sym(1) && !node.arg("transposed").to_bool();
  for (size_t d = 1; d < 3; ++d) {
    is_column = is_column && window[2 + d] == Sym(1) && stride[d] == 1 && padding[d] == 0;
  }
  return is_column ? Volume::kColumns : Volume::kSlices;
}

std::vector<Phases> Depth::phases() const {
  const int64_t most = taps(), whole = kernel - (most - 1) * stride;
  if (whole == stride) return {{0, stride, most, stride}};
  return {{0, whole, most, stride}, {whole, stride - whole, most - 1, stride}};
}

bool is_depthwise_filter(const Node& node) {
  return node.arg("groups").to_int() > 1 && tensor(node, "weight")->type.sizes[1] == Sym(1);
}

std::string volume_refusal(const Node& node) {
  for (const Value* value : {tensor(node), static_cast<const Value*>(node.outputs[0])}) {
    const Dims& sizes = value->type.sizes;
    const auto is_known = [](const Sym& size) { return size.is_int(); };
    if (!std::all_of(sizes.begin() + 1, sizes.end(), is_known)) return "a size is dynamic";
  }
  if (node.arg("transposed").to_bool()) return transposed_refusal(node);
  return has_deep_groups(node) ? "it is of a volume in groups, which a kernel computes faster" : "";
}

// Padded so that every tap has `stride` slices for each of the result, of which it takes the first.
std::vector<Id> volume_images(Lowering& l, const Node& node, Id image, Volume volume) {
  const Dims dims = l.out().dims(image);
  if (volume == Volume::kColumns) {
    return {l.reshape(image, {dims[0], dims[1], dims[2] * dims[3], dims[4]})};
  }
  const Depth depth(node);
  if (depth.transposed) return transposed_images(l, image, depth);
  const Dims slices = {dims[0] * depth.out, dims[2], dims[3], dims[4]};
  const int64_t needed = (depth.kernel - 1) * depth.dilation + depth.out * depth.stride;
  const int64_t after = std::max<int64_t>(0, needed - depth.padding - depth.in);
  const Id x = padded(l, image, depth.padding, after);
  std::vector<Id> taps;
  for (int64_t t = 0; t < depth.kernel; ++t) {
    Id tap = l.slice(x, 1, t * depth.dilation, depth.out * depth.stride);
    if (depth.stride > 1) {
      tap = l.reshape(tap, {dims[0] * depth.out, depth.stride, dims[2], dims[3], dims[4]});
      tap = l.slice(tap, 1, 0, 1);
    }
    taps.push_back(l.reshape(tap, slices));
  }
  if (is_depthwise_filter(node)) return taps;
  return {by_groups(l, l.concatenated(taps, 3), depth.kernel, node.arg("groups").to_int())};
}

Dims volume_sizes(const Node& node, Volume volume) {
  const Dims& out = node.outputs[0]->type.sizes;
  if (volume == Volume::kColumns) return {out[0], out[2], out[3] * out[4], out[1]};
  const Depth depth(node);
  if (!depth.transposed) return {out[0] * out[2], out[3], out[4], out[1]};
  return {out[0] * depth.positions(), out[3], out[4], out[1] * depth.stride};
}

Id volume_of_images(Lowering& l, const Node& node, Id images) {
  const Dims& out = node.outputs[0]->type.sizes;
  const Depth depth(node);
  if (!depth.transposed) return l.reshape(images, {out[0], out[2], out[3], out[4], out[1]});
  const int64_t slices = depth.positions() * depth.stride;
  if (depth.stride > 1) {
    images = l.reshape(images, {out[0] * depth.positions(), out[3] * out[4], depth.stride, out[1]});
    images = l.transpose(images, {0, 2, 1, 3});
  }
  const Id all = l.reshape(images, {out[0], Sym(slices), out[3], out[4], out[1]});
  return l.slice(all, 1, depth.padding, depth.out);
}

}  // namespace taper::xnnpack
