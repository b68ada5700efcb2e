// Declarations of custom operators, one per line:
//
//   # name, arguments and results as for torch.library.define, then further clauses
//   my::scale(Tensor x, float by) -> Tensor                     like x
//   my::dot(Tensor a, Tensor b) -> Tensor                       as aten::mm
//   my::top(Tensor x, int k) -> (Tensor, Tensor)
//   my::push_(Tensor(a!) cache, Tensor x, int at=0) -> ()       kernel my::push_fast_
//
//   like x       the result has the dtype and sizes of the argument x; "like x, y" for two results
//   as aten::mm  the results have the types that aten::mm gives for the same arguments, in order
//   kernel NAME  the name of the kernel; the default is my::scale.out, and my::push_ itself for an
//                operator that only writes its arguments
//   random       two calls may give different results: they are never merged
//
// Without "like" or "as", results have the types that the exported program states, which is always
// sufficient; with them, the program is checked against the rule.

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exir/ir/registry.h"

namespace taper::exir {

// The rule of "like", names of arguments, or of "as", the name of an operator.
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

// The call of an operator's kernel: new results are written to out arguments at the end. Its name
// is `name`, or that of the out variant. None if the operator itself is the kernel.
std::optional<Schema> kernel_of(const Schema& schema, const std::string& name);

// Throws Failure naming `where`, the line, and what is wrong with it.
void for_each_declaration(std::string_view text, std::string_view where,
                          const std::function<void(const Declaration&)>& visit);

// The operators of `below` and those that the text declares; `where` names the text in messages.
// Throws Failure naming the line.
Operators declare_operators(Operators below, std::string_view text, std::string_view where);

// A declaration to suggest for an undeclared operator, derived from one call of it.
std::string suggested_declaration(const Node& node);

}  // namespace taper::exir
