// Gathers patches; see patches.h.

#include "backends/xnnpack/aot/patches.h"

#include "backends/xnnpack/aot/op_table.h"

namespace taper::xnnpack {
namespace {

using exir::Sym;
using exir::Value;

// For smaller windows of an image with a few channels, the device has a stage
// (kernels_optimized/cores/planes.h).
constexpr int64_t kLeastTerms = 513;

// Whether the windows along dimension d, 0 or 1, lie side by side and cover the image.
bool covers(const Value* image, const Window& w, size_t d) {
  const Sym& size = image->type.sizes[2 + d];
  return size.is_int() && size.as_int() % w.kernel[d] == 0 && w.stride[d] == w.kernel[d] &&
         w.dilation[d] == 1 && w.padding[d] == 0 && w.padding[2 + d] == 0;
}

}  // namespace

Id patch_rows(Lowering& l, const exir::Node& node, const Window& w) {
  const Value *x = tensor(node), *weight = tensor(node, "weight");
  if (x->type.rank() != 4 || l.for_executorch() || l.is_image(x) || w.groups != 1 ||
      weight->scales != nullptr || !covers(x, w, 0) || !covers(x, w, 1)) {
    return kNone;
  }
  const Dims& sizes = x->type.sizes;
  const int64_t channels = sizes[1].as_int(), height = w.kernel[0], width = w.kernel[1];
  const int64_t terms = channels * height * width;
  if (terms < kLeastTerms) return kNone;
  const int64_t down = sizes[2].as_int() / height, across = sizes[3].as_int() / width;
  Id rows = l.reshape(l.plain(x), {sizes[0], channels, down, height, across, width});
  rows = l.transpose(rows, {0, 2, 4, 1, 3, 5});
  rows = l.reshape(rows, {sizes[0], down, across, terms});
  const exir::Argument& bias = node.arg("bias");
  const Id weights = l.reshape(l.weights(weight), {weight->type.sizes[0], terms});
  return l.connected(rows, weights, bias.is_none() ? kNone : l.weights(bias.value()));
}

}  // namespace taper::xnnpack
