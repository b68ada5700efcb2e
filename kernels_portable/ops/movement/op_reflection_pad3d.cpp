// aten::reflection_pad3d.out: self padded along the last three dimensions by reflection at the
// edges.

#include "kernels_portable/cores/edge_pad.h"

namespace taper::portable {
namespace {

Status reflection_pad3d_out(KernelContext&, const Tensor& self, IntList padding, Tensor& out) {
  return pad_edges(self, padding, 3, EdgePadding::kReflect, out);
}

}  // namespace

extern const Kernel kReflectionPad3dOut;
const Kernel kReflectionPad3dOut = make_kernel<reflection_pad3d_out>("aten::reflection_pad3d.out");

}  // namespace taper::portable
