// Views as functionalize sees them: what memory they look into, and how to write through them.

#pragma once

#include <optional>
#include <vector>

#include "exir/ir/rewrite.h"

namespace taper::exir {

// Distances in elements between neighbours along each dimension.
using Strides = std::vector<Sym>;

Strides dense_strides(const TensorType& type);

// What a call of an operator whose schema says that it returns an alias really does.
enum class ViewKind : uint8_t {
  kAlias,     // Looks into the memory of its argument.
  kIdentity,  // Looks into all of it, with the same type.
  kCopy,      // Returns other memory: reshape of what cannot be viewed, to() another dtype.
  kUnknown,   // Cannot be told from what is known.
};

// Where a tensor lies in its memory, as far as it is known.
struct Placement {
  std::optional<Strides> strides;
  std::optional<Sym> offset;  // Of its first element, in elements.
};

// Operators whose schema does not say it, and which all the same may return what they are given.
bool may_return_alias(const Node& node);

struct ViewEffect {
  ViewKind kind = ViewKind::kAlias;
  Placement placement;  // Of each result; without offset if they have different ones.
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

// The argument of the view as it is after its result number `index` became `part`. `whole` is the
// argument before. Views without an inverse of their own are shown the elements' numbers, and the
// part is put where its numbers say. Throws Failure if the view repeats
// elements or shows bytes as another type.
Value* write_through(Rewriter& rewriter, const ViewCall& view, size_t index, Value* whole,
                     Value* part);

// Sizes as arguments: integers, or sym_size of `source` where they are not known.
Argument size_arguments(Rewriter& rewriter, const std::vector<Sym>& sizes, Value* source);

}  // namespace taper::exir
