// Declarations of a person's own operators, one a line:
//
//   # name, arguments and results as torch.library.define takes them, then what else is known
//   my::scale(Tensor x, float by) -> Tensor                     like x
//   my::dot(Tensor a, Tensor b) -> Tensor                       as aten::mm
//   my::top(Tensor x, int k) -> (Tensor, Tensor)
//   my::push_(Tensor(a!) cache, Tensor x, int at=0) -> ()       kernel my::push_fast_
//
//   like x       the result has the dtype and sizes of the argument x; "like x, y" for two results
//   as aten::mm  the results have the types that aten::mm gives for the same arguments, in order
//   kernel NAME  what the kernel is called; else my::scale.out, and my::push_ itself for an operator
//                that only writes its arguments
//   random       two calls may differ: they are never merged
//
// Without "like" or "as" results have the types that the exported program states, which is enough
// for every program; with them the program is checked against the rule.

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exir/ir/graph.h"
#include "exir/ir/schema.h"

namespace taper::exir {

// Names of arguments, or of an operator.
struct TypeRule {
  std::vector<std::string> like;
  std::string as;
  bool empty() const { return like.empty() && as.empty(); }
};

struct Declaration {
  Schema schema;
  std::optional<Schema> kernel;  // The out variant; none if the operator itself is the kernel.
  TypeRule rule;
  bool random = false;
};

// Throws Failure that names `where`, the line and what is wrong with it.
void for_each_declaration(std::string_view text, std::string_view where,
                          const std::function<void(const Declaration&)>& visit);

// The types of the results of a call. Throws Failure if the arguments break the rule.
std::vector<TensorType> types_by_rule(const TypeRule& rule, const Schema& schema,
                                      const std::vector<Argument>& args);

// The schema of functional_form() in registry.h.
std::optional<Schema> form_without_writes(const Schema& schema);

// A declaration for an operator that nobody declared, as far as a call of it tells.
std::string suggested_declaration(const Node& node);

}  // namespace taper::exir
