// torch.vmap, as training IR keeps it, becomes map over the samples.
//
//     before   _vmap_increment_nesting(4, "error")         after   %r = map_impl(graph { sin }, [%x])
//              %a: f32[3] = _add_batch_dim(%x, 0, 1)               %r: f32[4, 3]
//              %b: f32[3] = aten::sin(%a)
//              %r: f32[4, 3] = _remove_batch_dim(%b, 1, 4, 0)
//              _vmap_decrement_nesting()
//
// Runs      before functionalize, which does not know these calls. Innermost first, so that a body
//           may hold the loop of another.
// Outside   of the body stays what no sample is needed for.
// Refused   writes between the first and the last of these calls, and sizes computed there.
// Cost      one walk per vmap. A loop is slower than the operators that run_decompositions() writes
//           for all samples at once.

#pragma once

#include "exir/ir/graph.h"

namespace taper::exir {

// Returns the number of loops made.
int loop_samples(Graph& graph);

}  // namespace taper::exir
