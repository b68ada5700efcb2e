// A number has no type but its kind, so that Rewriter::emit cannot make it; see number_nodes.h.

#include "exir/ir/number_nodes.h"

#include <algorithm>

#include "exir/ir/failure.h"

namespace taper::exir {

Value* emit_number(Rewriter& rewriter, const std::string& name, ValueKind kind,
                   std::string_view target, const std::vector<Argument>& args, const Sym& sym) {
  Node* node = rewriter.emit_node(target, args);
  Value* value = rewriter.graph().new_value(name, kind);
  value->sym = sym;
  value->producer = node;
  node->outputs.push_back(value);
  return value;
}

Argument size_arguments(Rewriter& rewriter, const std::vector<Sym>& sizes, Value* source) {
  Argument::List out;
  for (const Sym& size : sizes) {
    if (size.is_int()) {
      out.push_back(size.as_int());
      continue;
    }
    const auto& have = source->type.sizes;
    const auto at = std::find(have.begin(), have.end(), size);
    if (at == have.end()) throw Failure("no value holds the size " + size.text());
    const int64_t dim = at - have.begin();
    out.push_back(emit_number(rewriter, "sym_size", ValueKind::kInt, "aten::sym_size.int",
                              {source, dim}, size));
  }
  return out;
}

}  // namespace taper::exir
