// aten::reflection_pad1d.out: self padded along the last dimension by reflection at the edges.

#include "kernels_portable/cores/edge_pad.h"

namespace taper::portable {
namespace {

Status reflection_pad1d_out(KernelContext&, const Tensor& self, IntList padding, Tensor& out) {
  return pad_edges(self, padding, 1, EdgePadding::kReflect, out);
}

}  // namespace

extern const Kernel kReflectionPad1dOut;
const Kernel kReflectionPad1dOut = make_kernel<reflection_pad1d_out>("aten::reflection_pad1d.out");

}  // namespace taper::portable
