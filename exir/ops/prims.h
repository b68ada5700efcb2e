// Operators of the namespace prims, PyTorch's smallest ones, which run_decompositions() writes with
// the tables of torch._inductor or torch._refs.

#pragma once

#include <span>
#include <string_view>

namespace taper::exir {

struct PrimTwin {
  std::string_view prim, aten;  // "transpose", "aten::permute"
};
// Sorted by the first.
std::span<const PrimTwin> prim_twins();

// The operator of ATen that does the same with the same arguments in the same places, such as
// aten::permute for prims::transpose; empty if there is none.
std::string_view aten_twin(std::string_view prim);

}  // namespace taper::exir
