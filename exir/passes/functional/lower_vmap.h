// torch.vmap, of which training IR keeps the calls that begin and end it, becomes a map over
// samples.
//
//     before   _vmap_increment_nesting(4, "error")         after   %r = map_impl(graph { sin }, [%x])
//              %a: f32[3] = _add_batch_dim(%x, 0, 1)               %r: f32[4, 3]
//              %b: f32[3] = aten::sin(%a)
//              %r: f32[4, 3] = _remove_batch_dim(%b, 1, 4, 0)
//              _vmap_decrement_nesting()
//
// Runs      before functionalize, which does not know these calls. The innermost vmap goes first,
//           so that a body may contain the map of a nested one.
// Keeps     outside the body: nodes that do not depend on a sample.
// Refuses   writes between the first and the last of these calls, and sizes computed there.
// Cost      one walk per vmap. A map is slower than the batched operators that run_decompositions()
//           emits.

#pragma once

#include "exir/ir/graph.h"

namespace taper::exir {

// Returns the number of maps emitted.
int lower_vmap(Graph& graph);

}  // namespace taper::exir
