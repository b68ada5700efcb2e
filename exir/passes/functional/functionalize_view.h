// Views for functionalize: which memory they alias, and how to write through them.

#pragma once

#include <optional>
#include <vector>

#include "exir/ir/rewrite.h"

namespace taper::exir {

// Distances in elements between neighbours along each dimension.
using Strides = std::vector<Sym>;

Strides dense_strides(const TensorType& type);

// What a call of an operator that may return an alias really does.
enum class ViewKind : uint8_t {
  kAlias,     // Aliases memory of its argument.
  kIdentity,  // Aliases all of it, with the same type.
  kCopy,      // Returns new memory: reshape of what cannot be viewed, to() another dtype.
  kUnknown,   // One of these, but it is not known which.
};

// Where a tensor lies in its memory, as far as that is known.
struct Placement {
  std::optional<Strides> strides;
  std::optional<Sym> offset;  // The position of its first element, in elements.
};

// True for operators that may return their argument although their schema does not declare an
// alias.
bool may_return_alias(const Node& node);

struct ViewEffect {
  ViewKind kind = ViewKind::kAlias;
  Placement placement;  // That of each result; without offset if they differ in it.
};

// `placement` is that of the argument.
ViewEffect view_effect(const Node& node, const Placement& placement);

// A view to invert: `node` gave the results `types` from an argument of type `base`.
struct ViewCall {
  const Schema& schema;
  const std::vector<Argument>& args;
  const TensorType& base;
  const std::vector<TensorType>& types;
};

// True if the view shows some element more than once, or may do so.
bool shows_twice(const ViewCall& view, size_t index);

// The contents of a view's argument after its result `index` was overwritten by `part`; `whole` is
// the contents before. A view that has no inverse operator is applied to the numbers of the
// elements, and `part` is written where they say. Throws Failure if the view repeats elements or
// reinterprets bytes as a type of another width.
Value* write_through(Rewriter& rewriter, const ViewCall& view, size_t index, Value* whole,
                     Value* part);

}  // namespace taper::exir
