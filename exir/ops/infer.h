// Type inference: the dtype and shape rule of each operator that the compiler itself emits.
//
// Values from a .pt2 have their types; these rules are for the values that passes create. All
// tensors are contiguous, which canonical_layout has ensured.

#pragma once

#include <vector>

#include "exir/ir/graph.h"

namespace taper::exir {

// The types of the results of calling `schema` with `args` (one per schema argument). Throws
// Failure if there is no rule or the arguments violate it; the message names the operator.
std::vector<TensorType> infer_types(const Schema& schema, const std::vector<Argument>& args);

// True if infer_types has a rule for the operator.
bool has_type_rule(std::string_view target);

// The value that a size-like argument stands for: a literal or a symbolic integer.
Sym to_sym(const Argument& arg);
std::vector<Sym> to_syms(const Argument& list);

// The sizes to which two operands broadcast, aligned at the right.
std::vector<Sym> broadcast(const std::vector<Sym>& a, const std::vector<Sym>& b);

// `dim` counted from the end if negative. Throws Failure when out of range for `rank`.
int64_t wrap_dim(int64_t dim, int64_t rank);

// Output length of a convolution or pooling window along one dimension.
Sym window_length(const Sym& in, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation,
                  bool ceil_mode);

}  // namespace taper::exir
