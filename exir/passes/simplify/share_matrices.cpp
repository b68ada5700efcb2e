// Looks through changes of sizes for the matrix; see share_matrices.h.

#include "exir/passes/simplify/share_matrices.h"

#include "exir/ir/rewrite.h"
#include "exir/passes/simplify/byte_product.h"

namespace taper::exir {
namespace {

// The matrix that is repeated for each batch; null if there are several.
Value* repeated_matrix(const Argument& batches) {
  const Value* value = before_views(batches.value());
  const bool is_repeated = value->producer != nullptr && value->producer->is("aten::expand_copy") &&
                           value->type == batches.value()->type;
  if (!is_repeated) return nullptr;
  Value* matrix = value->producer->arg(0).value();
  const std::vector<Sym>&sizes = matrix->type.sizes, &all = value->type.sizes;
  return sizes.size() == 2 && sizes[0] == all[1] && sizes[1] == all[2] ? matrix : nullptr;
}

bool share(Node& node, Rewriter& rewriter) {
  if (!node.is("aten::bmm")) return false;
  const TensorType &x = node.arg(0).value()->type, &y = node.outputs[0]->type;
  if (!x.is_static() || !y.is_static()) return false;
  Value* matrix = repeated_matrix(node.arg(1));
  if (matrix == nullptr) return false;
  const int64_t rows = x.sizes[0].as_int() * x.sizes[1].as_int();
  const int64_t depth = x.sizes[2].as_int(), columns = y.sizes[2].as_int();
  const TensorType left(x.dtype, {rows, depth}), product(y.dtype, {rows, columns});
  Value* flat =
      rewriter.emit("aten::view_copy", {node.arg(0), Argument::List{rows, depth}}, {left})[0];
  Value* made = rewriter.emit("aten::mm", {flat, matrix}, {product})[0];
  const Argument::List sizes = {y.sizes[0].as_int(), y.sizes[1].as_int(), columns};
  rewriter.replace(node.outputs[0], rewriter.emit("aten::view_copy", {made, sizes}, {y})[0]);
  return true;
}

}  // namespace

int share_matrices(Graph& graph) {
  const int count = rewrite(graph, share);
  if (count != 0) erase_dead(graph);
  return count;
}

}  // namespace taper::exir
