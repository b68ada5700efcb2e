// How every operator that the compiler knows is compiled, derived from the tables that the passes
// themselves use. `taper ops` prints it; docs/operators.md is generated from it.

#pragma once

#include <string>
#include <vector>

#include "taper/scalar_type.h"

namespace taper::exir {

struct OperatorRow {
  std::string name;
  // core         in the Core ATen set
  // decomposed   composite: decomposed by a rule of exir/decompose
  // aten         in exported programs only: writes, aliases, or is dropped before Core ATen
  // edge         has an out variant and is kept whole, but is not in the Core ATen set
  // backend      a kernel that no functional operator names, a prim, control flow
  std::string dialect;
  std::string becomes;  // "aten::add.out", "simpler operators", "aten::add.Tensor", "jumps", ...
  std::string kernel;   // The name of its own kernel, or empty.
  std::vector<ScalarType> dtypes;  // Those of the first tensor that the kernel takes.
  // Where its result may lie: "own", "any operand", "first operand", "view" of the first operand.
  std::string memory;
  // "any"      every size may change from call to call
  // "bounded"  the sizes of the result are data-dependent; an upper bound must be known
  // "parts"    the same as that of the operators that it becomes
  std::string dynamic;
  std::string scalar;  // The operator that stands for it where the second operand is a number.
};

struct OperatorTable {
  std::vector<OperatorRow> rows;         // Sorted by name.
  std::vector<std::string> unsupported;  // Known by name and schema, refused when met.
};

OperatorTable operator_table();

// A name as tables abbreviate it: "f32".
const char* short_name(ScalarType dtype);

}  // namespace taper::exir
