// Quantisation of rows at run time as torchao spells it, before a layer:
//
//     %s, %z = torchao::choose_qparams_affine(%x, ...)
//     %q = torchao::quantize_affine(%x, ..., %s, %z, ...)
//     %d = torchao::dequantize_affine(%q, ..., %s, %z, ...)

#pragma once

#include <optional>

#include "exir/ir/graph.h"

namespace taper::exir {

// Whether a node is one of the three, for rows of float32 and the whole range of int8.
bool is_row_quantisation(const Node& node);

struct RowQuantisation {
  Value* input = nullptr;
  bool symmetric = false;
  double eps = 0;
};

// How `x` came from the last of the three nodes; nullopt if it did not.
std::optional<RowQuantisation> row_quantisation_of(const Value* x);

}  // namespace taper::exir
