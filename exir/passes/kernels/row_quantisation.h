// Quantisation at run time before a layer, as torchao spells it:
//
//     %s, %z = torchao::choose_qparams_affine(%x, ...)
//     %q = torchao::quantize_affine(%x, ..., %s, %z, ...)
//     %d = torchao::dequantize_affine(%q, ..., %s, %z, ...)
//
// where a row, or the whole tensor, has a scale. PT2E spells the latter
//
//     %s, %z = quantized_decomposed::choose_qparams.tensor(%x, ...)
//     %q = quantized_decomposed::quantize_per_tensor.tensor(%x, %s, %z, ...)
//     %d = quantized_decomposed::dequantize_per_tensor.tensor(%q, %s, %z, ...)

#pragma once

#include <optional>

#include "exir/ir/graph.h"

namespace taper::exir {

// Whether a node is one of torchao's three, for float32 and the whole range of int8.
bool is_row_quantisation(const Node& node);

struct RowQuantisation {
  Value* input = nullptr;
  bool is_whole = false;  // One scale for the tensor.
  bool symmetric = false;
  double eps = 0;
};

// How `x` came from the last of the three nodes; nullopt if it did not.
std::optional<RowQuantisation> row_quantisation_of(const Value* x);

}  // namespace taper::exir
