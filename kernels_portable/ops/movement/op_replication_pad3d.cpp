// aten::replication_pad3d.out: self padded along the last three dimensions with copies of the edge
// elements.

#include "kernels_portable/cores/edge_pad.h"

namespace taper::portable {
namespace {

Status replication_pad3d_out(KernelContext&, const Tensor& self, IntList padding, Tensor& out) {
  return pad_edges(self, padding, 3, EdgePadding::kReplicate, out);
}

}  // namespace

extern const Kernel kReplicationPad3dOut;
const Kernel kReplicationPad3dOut =
    make_kernel<replication_pad3d_out>("aten::replication_pad3d.out");

}  // namespace taper::portable
