// What becomes of every operator that the compiler knows, worked out from the tables that the
// passes themselves use. `taper ops` prints it; docs/operators.md is made from it.

#pragma once

#include <string>
#include <vector>

#include "taper/scalar_type.h"

namespace taper::exir {

struct OperatorRow {
  std::string name;
  // core         of the Core ATen set
  // decomposed   composite: a rule of exir/decompose breaks it down
  // aten         of exported programs only: written, aliased or dropped before Core ATen is reached
  // edge         has an out variant and is kept whole, but is not in the Core ATen set
  // backend      a kernel that no functional operator names, a prim, control flow
  std::string dialect;
  std::string becomes;  // "aten::add.out", "simpler operators", "aten::add.Tensor", "jumps", ...
  std::string kernel;   // Its own, or empty.
  std::vector<ScalarType> dtypes;  // Of the first tensor, as the kernel takes them.
  // "any"      every size may change from call to call
  // "bounded"  the sizes of the result depend on values; an upper bound must be known
  // "parts"    as the operators that it becomes
  std::string dynamic;
  std::vector<std::string> delegates;  // Backends that run it.
};

struct OperatorTable {
  std::vector<OperatorRow> rows;         // Sorted by name.
  std::vector<std::string> unsupported;  // Known by name and schema, refused when met.
};

// Asks every kernel for its dtypes, which takes a second or two.
OperatorTable operator_table();

// A name as tables abbreviate it: "f32".
const char* short_name(ScalarType dtype);

}  // namespace taper::exir
