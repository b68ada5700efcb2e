// Facts about operators, from one table: schema, out variant, what kind of operator it is.
//
// ops/aten_schemas.def holds the schema text of every operator that an exported program may name;
// ops/out_variants.def maps a functional operator to the out variant whose kernel runs it.

#pragma once

#include <memory>
#include <string_view>

#include "exir/ir/schema.h"

namespace taper::exir {

// The schema of "aten::add.Tensor", or null if it is in no table. Parsed on first use; thread safe.
std::shared_ptr<const Schema> find_schema(std::string_view target);

// Like find_schema, but throws Failure naming the operator.
std::shared_ptr<const Schema> need_schema(std::string_view target);

// The out variant that computes `target`: "aten::add.Tensor" -> schema of "aten::add.out". Null if
// there is none. Arguments of the out variant are found by name; `out...` come last.
std::shared_ptr<const Schema> out_variant(std::string_view target);

// The other way: "aten::add.out" -> schema of "aten::add.Tensor".
std::shared_ptr<const Schema> functional_variant(std::string_view out);

// The registry's tags. All false for an operator in no table.
struct OpFacts {
  bool core = false;       // In the Core ATen opset.
  bool view = false;       // Its result aliases an input.
  bool inplace = false;    // It writes an argument.
  bool composite = false;  // PyTorch decomposes it.
  bool random = false;     // Two calls may differ: never folded, never merged.
};
OpFacts op_facts(std::string_view target);

}  // namespace taper::exir
