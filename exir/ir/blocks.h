// The blocks of a tensor that share a scale, as torchao's operators give them: block_size has the
// extent of a block along each dimension. An extent may be a number that varies, which has the
// symbol of a size then.

#pragma once

#include "exir/ir/graph.h"

namespace taper::exir {

// Whether the blocks of a tensor of at least two dimensions are its rows, or it is one block; both
// if it has one row.
bool are_rows(const Value& x, const Argument& block_size);
bool is_one_block(const Value& x, const Argument& block_size);

}  // namespace taper::exir
