// aten::replication_pad2d.out: self with the last two dimensions continued with the edges'
// elements.

#include "kernels_portable/edge_pad.h"

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
