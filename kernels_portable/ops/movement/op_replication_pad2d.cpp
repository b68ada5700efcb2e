// aten::replication_pad2d.out: self padded along the last two dimensions with copies of the edge
// elements.

#include "kernels_portable/cores/edge_pad.h"

namespace taper::portable {
namespace {

Status replication_pad2d_out(KernelContext&, const Tensor& self, IntList padding, Tensor& out) {
  return pad_edges(self, padding, 2, EdgePadding::kReplicate, out);
}

}  // namespace

extern const Kernel kReplicationPad2dOut;
const Kernel kReplicationPad2dOut =
    make_kernel<replication_pad2d_out>("aten::replication_pad2d.out");

}  // namespace taper::portable
