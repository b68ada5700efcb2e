"""What PyTorch expresses by simpler operators before Taper sees a graph."""

import torch
from torch._decomp import decomposition_table

# Backward operators that have kernels of their own, or that Taper's compiler expresses itself.
_KEPT = {torch.ops.aten.max_pool2d_with_indices_backward.default,
         torch.ops.aten._softmax_backward_data.default}
_BATCH_NORMS = {torch.ops.aten.native_batch_norm.default,
                torch.ops.aten._native_batch_norm_legit.default,
                torch.ops.aten._native_batch_norm_legit.no_stats,
                torch.ops.aten._native_batch_norm_legit_functional.default,
                torch.ops.aten._batch_norm_with_update_functional.default}


def for_training():
    """The decompositions of operators that only training has."""
    def is_wanted(target):
        name = str(target)
        return target in _BATCH_NORMS or (
            "backward" in name and name.endswith(".default") and target not in _KEPT)

    return {target: rule for target, rule in decomposition_table.items() if is_wanted(target)}
