// Functional variants of operators that write their arguments.

#pragma once

#include "exir/ir/rewrite.h"

namespace taper::exir {

// What `self` holds after the in-place operator `node`, whose arguments already are functional
// values: a value of the type of `self`, or `self` itself where nothing changes. Throws Failure if
// the operator has no functional twin.
Value* written_value(Rewriter& rewriter, const Node& node, Value* self);

// The operator that computes what an in-place one writes, by name: "aten::add_.Tensor" ->
// "aten::add.Tensor". Empty if the name has no such form.
std::string functional_twin(std::string_view target);

// True for operators that compute nothing: copy_, fill_, zero_, and those that leave the contents.
bool writes_plainly(std::string_view target);

// f(x, out=y): an operator whose written arguments are all keywords.
bool writes_out(const Node& node);

// What the written arguments of such an operator hold after it, in their order and with their
// types. Throws Failure if no operator computes that, or an argument would change its sizes.
std::vector<Value*> out_values(Rewriter& rewriter, const Node& node);
// The functional form of a custom operator that writes positional arguments; null if the node is no
// such operator. Throws Failure if an argument that it writes is not a tensor.
std::shared_ptr<const Schema> written_form(const Node& node, const OperatorRegistry& operators);

// True if a result is one of the written arguments again: "Tensor(a!)".
bool is_written_return(const Schema& schema, size_t result);

// The index of the one argument that the operator writes. Throws Failure if there are more, or if
// it is not a plain tensor.
size_t written_argument(const Node& node);

// squeeze_, t_ and others change the sizes of a tensor but not its elements: returns the view that
// does the same, null for every other operator.
std::shared_ptr<const Schema> reshaping_twin(const Node& node, const OperatorRegistry& operators);

}  // namespace taper::exir
