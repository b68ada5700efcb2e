// Operators that write their arguments in ways of their own, spelled as writes and views of ATen.
//
//     before   %r = llama::update_cache(%value, %cache, %pos)
//     after    %end = python::add(%pos, 2)
//              %slice = aten::slice.Tensor(%cache, 1, %pos, %end, 1)
//              %copy_ = aten::copy_(%slice, %value)
//
// update_cache_with_indices becomes index_put_, sdpa_with_kv_cache two updates and custom_sdpa,
// aten::resize_ the same memory as_strided.
//
// Runs      before functionalize, which knows ATen's writes alone. Memory planning puts what they
//           become back in place.
// Cost      one walk.

#pragma once

#include "exir/ir/graph.h"

namespace taper::exir {

// Returns the number of nodes replaced.
int spell_updates(Graph& graph);

}  // namespace taper::exir
