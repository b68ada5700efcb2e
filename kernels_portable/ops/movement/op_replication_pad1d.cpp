// aten::replication_pad1d.out: self padded along the last dimension with copies of the edge
// elements.

#include "kernels_portable/cores/edge_pad.h"

namespace taper::portable {
namespace {

Status replication_pad1d_out(KernelContext&, const Tensor& self, IntList padding, Tensor& out) {
  return pad_edges(self, padding, 1, EdgePadding::kReplicate, out);
}

}  // namespace

extern const Kernel kReplicationPad1dOut;
const Kernel kReplicationPad1dOut =
    make_kernel<replication_pad1d_out>("aten::replication_pad1d.out");

}  // namespace taper::portable
