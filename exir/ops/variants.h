// Other forms of an operator: the one that copies where it returns a view, and the schema of its
// kernel with out arguments.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "exir/ir/graph.h"

namespace taper::exir {

// The operator that copies where `target` returns a view: "aten::select.int" ->
// "aten::select_copy.int".
std::string copy_twin(std::string_view target);

// The schema of the kernel that runs a call of the operator, a prim for arithmetic on numbers. Null
// if there is none.
std::shared_ptr<const Schema> kernel_schema(const OperatorRegistry& operators,
                                            const Schema& schema);

// The arguments of an out variant that are its results: "out", "out0", "values", ...
bool is_out_argument(const SchemaArg& arg);

// A plain argument that a kernel writes, and the result that is its new contents: both by index.
struct WrittenResult {
  size_t arg = 0;
  size_t output = 0;
};
// The written results of a kernel call that stems from an operator's functional form; results that
// are out arguments come before them.
std::vector<WrittenResult> written_results(const Node& node);

}  // namespace taper::exir
