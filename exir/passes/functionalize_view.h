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

struct ViewEffect {
  ViewKind kind = ViewKind::kAlias;
  std::optional<Strides> strides;  // Of the first result.
};

// `strides` are those of the argument, if known.
ViewEffect view_effect(const Node& node, const std::optional<Strides>& strides);

// A view to invert: `node` gave the results `types` from an argument of type `base`.
struct ViewCall {
  const Schema& schema;
  const std::vector<Argument>& args;
  const TensorType& base;
  const std::vector<TensorType>& types;
};

// The argument of the view as it is after its result number `index` became `part`. `whole` is the
// argument before. Throws Failure if the view overlaps itself or is not known.
Value* write_through(Rewriter& rewriter, const ViewCall& view, size_t index, Value* whole,
                     Value* part);

// Sizes as arguments: integers, or sym_size of `source` where they are not known.
Argument size_arguments(Rewriter& rewriter, const std::vector<Sym>& sizes, Value* source);

}  // namespace taper::exir
