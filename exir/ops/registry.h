// Facts about operators, from one table: schema, out variant, what kind of operator it is.
//
// ops/aten_schemas.def holds the schema text of every operator that an exported program may name;
// ops/out_variants.def maps a functional operator to the out variant whose kernel runs it. A
// person's own operators come from a declaration file.

#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "exir/ir/graph.h"
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

// The functional form of an operator that writes plain arguments and has no twin of its own: it
// returns what the operator returns anew, then the new contents of each argument that it writes.
// The out variant of the form is the call of the kernel, in which those arguments are still
// written.
//
//   my::push_(Tensor(a!) cache, Tensor x) -> ()
//   my::push_.functional(Tensor cache, Tensor x) -> Tensor
//
// Null if it writes nothing, or something else than single tensors.
std::shared_ptr<const Schema> functional_form(std::string_view target);

// Every operator that the tables know, out variants too, sorted by name.
std::vector<std::string> operator_names();

// Makes operators known that no table lists, until they are forgotten (declare.h has the grammar).
// `where` names the text in messages. Throws Failure naming the line.
void declare_operators(std::string_view text, std::string_view where);
void forget_declarations();

// True if a declaration names the operator, its out variant or its kernel.
bool is_declared(std::string_view target);

// The types that a declared operator's rule gives; nullopt if it has none.
std::optional<std::vector<TensorType>> declared_types(const Schema& schema,
                                                      const std::vector<Argument>& args);

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
