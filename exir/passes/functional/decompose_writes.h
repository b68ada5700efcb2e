// Decomposes operators that write their arguments in ways of their own into ATen's writes and
// views.
//
//     before   %r = llama::update_cache(%value, %cache, %pos)
//     after    %end = python::add(%pos, 2)
//              %slice = aten::slice.Tensor(%cache, 1, %pos, %end, 1)
//              %copy_ = aten::copy_(%slice, %value)
//
// update_cache_with_indices becomes index_put_, sdpa_with_kv_cache becomes two updates and
// custom_sdpa, and aten::resize_ an as_strided view of the same memory. Where programs may be in
// training mode, batch_norm becomes the operator that says which statistics it writes.
//
// Runs      before functionalize, which handles ATen's writes only. Memory planning makes the
//           updates in-place again.
// Cost      one walk.

#pragma once

#include "exir/ir/graph.h"
#include "exir/ops/aten_calls.h"

namespace taper::exir {

// Returns the number of nodes replaced.
int decompose_writes(Graph& graph, Aten aten = Aten::kNo);

}  // namespace taper::exir
