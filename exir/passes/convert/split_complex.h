// Complex numbers become pairs of real ones.
//
//   input %x: complex64[3]                   %p: float32[3, 2] = view_as_real_copy(%x)
//   %z: complex64[3] = polar(%r, %t)         %a: float32[3] = mul(%r, cos(%t))
//   %w: complex64[3] = mul(%z, %z)           ...
//   %y: float32[3] = abs(%w)                 %y: float32[3] = sqrt(re * re + im * im)
//
// Runs      after canonical_layout
// Requires  the front end's types: a complex tensor is a real one with a last dimension of two,
//           marked by TensorType::pairs
// Keeps     nothing complex but inputs and outputs: copies of them are pairs, and copies of pairs
//           are them
// Cost      linear in the nodes

#pragma once

#include "exir/ir/graph.h"
#include "exir/ops/aten_calls.h"

namespace taper::exir {

// Returns the number of calls replaced. Throws Failure with one diagnostic per call that has no
// rule for complex numbers and is not left to PyTorch's operators; those are given complex tensors.
int split_complex(Graph& graph, Aten aten = Aten::kNo);

}  // namespace taper::exir
