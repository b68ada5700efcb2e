// Constants are permuted now, inputs in another layout are copied at the start of a call, and every
// other value is declared contiguous: no node depends on the strides that PyTorch's views had.

#include "exir/passes/convert/canonical_layout.h"

#include <cstring>

#include "exir/ir/registry.h"
#include "exir/ir/rewrite.h"

namespace taper::exir {
namespace {

// The bytes of `value` in row-major order. Constants have static sizes.
TensorData row_major(const Value& value) {
  const TensorType& type = value.type;
  const size_t item = element_size(type.dtype);
  std::vector<int64_t> sizes, stride(type.rank());
  for (const Sym& size : type.sizes) sizes.push_back(size.as_int());
  int64_t step = 1;
  for (size_t i = type.rank(); i-- > 0;) {
    const uint8_t d = type.dim_order[i];
    stride[d] = step;
    step *= sizes[d];
  }
  std::vector<uint8_t> out(value.data.bytes);
  std::vector<int64_t> at(type.rank(), 0);
  for (size_t done = 0; done < out.size(); done += item) {
    int64_t from = 0;
    for (size_t d = 0; d < at.size(); ++d) from += at[d] * stride[d];
    std::memcpy(&out[done], value.data.data + static_cast<size_t>(from) * item, item);
    for (size_t d = at.size(); d-- > 0;) {
      if (++at[d] < sizes[d]) break;
      at[d] = 0;
    }
  }
  return own_bytes(std::move(out));
}

int relayout_constants(Graph& graph) {
  int changed = 0;
  for (Value* value : graph.constants) {
    if (value->type.is_contiguous()) continue;
    value->data = row_major(*value);
    value->type.dim_order = contiguous_order(value->type.rank());
    ++changed;
  }
  return changed;
}

// An input in another layout is replaced by a new one, and the old value becomes its contiguous
// copy, so that no use has to change.
int copy_inputs(Graph& graph) {
  std::vector<std::unique_ptr<Node>> copies;
  for (Argument& input : graph.inputs) {
    if (!input.is_value() || input.value()->kind != ValueKind::kTensor) continue;
    Value* copy = input.value();
    if (copy->type.is_contiguous()) continue;
    Value* fresh = graph.new_tensor(copy->name, copy->type);
    fresh->role = ValueRole::kInput;
    input = fresh;
    for (Mutation& mutation : graph.mutations) {
      if (mutation.target == copy) mutation.target = fresh;
    }
    auto node = std::make_unique<Node>();
    node->name = copy->name;
    node->schema = graph.operators()->need("dim_order_ops::_clone_dim_order");
    std::vector<int64_t> order;
    for (uint8_t d : contiguous_order(copy->type.rank())) order.push_back(d);
    node->args = {fresh, false, int_list(order)};
    node->outputs = {copy};
    copy->role = ValueRole::kResult;
    copy->type.dim_order = contiguous_order(copy->type.rank());
    copy->producer = node.get();
    copies.push_back(std::move(node));
  }
  const int changed = static_cast<int>(copies.size());
  graph.nodes.insert(graph.nodes.begin(), std::make_move_iterator(copies.begin()),
                     std::make_move_iterator(copies.end()));
  return changed;
}

// All tensors are contiguous from here on, so memory formats get their defaults.
void drop_memory_formats(Node& node) {
  const int at = node.schema->find("memory_format");
  if (at < 0) return;
  const auto i = static_cast<size_t>(at);
  node.args[i] = default_argument(node.schema->args[i]);
}

}  // namespace

int canonical_layout(Graph& graph) {
  int changed = 0;
  for (Graph* g : all_graphs(graph)) {
    for (const auto& node : g->nodes) {
      drop_memory_formats(*node);
      for (Value* value : node->outputs) {
        if (value->type.is_contiguous()) continue;
        value->type.dim_order = contiguous_order(value->type.rank());
        ++changed;
      }
    }
    changed += relayout_constants(*g);
    if (g == &graph) {
      changed += copy_inputs(*g);
      continue;
    }
    for (const Argument& input : g->inputs) {  // The caller passes contiguous values.
      if (input.is_value()) {
        input.value()->type.dim_order = contiguous_order(input.value()->type.rank());
      }
    }
  }
  return changed;
}

}  // namespace taper::exir
