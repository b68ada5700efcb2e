// aten::reflection_pad2d.out: self padded along the last two dimensions by reflection at the edges.

#include "kernels_portable/cores/edge_pad.h"

namespace taper::portable {
namespace {

Status reflection_pad2d_out(KernelContext&, const Tensor& self, IntList padding, Tensor& out) {
  return pad_edges(self, padding, 2, EdgePadding::kReflect, out);
}

}  // namespace

extern const Kernel kReflectionPad2dOut;
const Kernel kReflectionPad2dOut = make_kernel<reflection_pad2d_out>("aten::reflection_pad2d.out");

}  // namespace taper::portable
