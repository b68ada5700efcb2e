// Gathers the slices of volumes; see volume.h.

#include "backends/xnnpack/aot/volume.h"

#include <algorithm>

#include "backends/xnnpack/aot/op_table.h"

namespace taper::xnnpack {
namespace {

using exir::Node;
using exir::Sym;
using exir::Value;

// What a convolution does along the depth.
struct Depth {
  int64_t in, out, kernel, stride, padding, dilation;

  explicit Depth(const Node& node)
      : in(tensor(node)->type.sizes[2].as_int()),
        out(node.outputs[0]->type.sizes[2].as_int()),
        kernel(tensor(node, "weight")->type.sizes[2].as_int()),
        stride(ints_of(node.arg("stride"), 3)[0]),
        padding(ints_of(node.arg("padding"), 3)[0]),
        dilation(ints_of(node.arg("dilation"), 3)[0]) {}
};

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

}  // namespace

Volume volume_of(const Node& node) {
  if (tensor(node)->type.rank() != 5) return Volume::kNone;
  const Dims& window = tensor(node, "weight")->type.sizes;
  const auto stride = ints_of(node.arg("stride"), 3), padding = ints_of(node.arg("padding"), 3);
  bool is_column = window[2] != Sym(1);
  for (size_t d = 1; d < 3; ++d) {
    is_column = is_column && window[2 + d] == Sym(1) && stride[d] == 1 && padding[d] == 0;
  }
  return is_column ? Volume::kColumns : Volume::kSlices;
}

std::string volume_refusal(const Node& node) {
  if (node.arg("transposed").to_bool()) return "it is a transposed convolution of a volume";
  if (node.arg("groups").to_int() != 1) return "it is a convolution of a volume in groups";
  for (const Value* value : {tensor(node), static_cast<const Value*>(node.outputs[0])}) {
    const Dims& sizes = value->type.sizes;
    const auto is_known = [](const Sym& size) { return size.is_int(); };
    if (!std::all_of(sizes.begin() + 1, sizes.end(), is_known)) return "a size is dynamic";
  }
  return "";
}

// Padded so that every tap has `stride` slices for each of the result, of which it takes the first.
Id volume_images(Lowering& l, const Node& node, Id image, Volume volume) {
  const Dims dims = l.out().dims(image);
  if (volume == Volume::kColumns)
    return l.reshape(image, {dims[0], dims[1], dims[2] * dims[3], dims[4]});
  const Depth depth(node);
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
  return l.concatenated(taps, 3);
}

Dims volume_sizes(const Value* result, Volume volume) {
  const Dims& out = result->type.sizes;
  if (volume == Volume::kColumns) return {out[0], out[2], out[3] * out[4], out[1]};
  return {out[0] * out[2], out[3], out[4], out[1]};
}

}  // namespace taper::xnnpack
