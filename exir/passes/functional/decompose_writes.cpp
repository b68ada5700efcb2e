// One function per operator, which emits the same writes as slices, copy_, index_put_ or
// as_strided.

#include "exir/passes/functional/decompose_writes.h"

#include "exir/decompose/builder.h"
#include "exir/ops/infer.h"

namespace taper::exir {
namespace {

// cache[:, start : start + positions of value] = value
void write_positions(Builder& b, Value* cache, Value* value, const Argument& start) {
  const Sym first = to_sym(start);
  const Argument end = b.size(first + dim_of(value, 1));
  Value* part = b.rewriter().emit("aten::slice.Tensor", {cache, 1, b.size(first), end, 1},
                                  {TensorType(cache->type.dtype, value->type.sizes)})[0];
  b.rewriter().emit("aten::copy_", {part, value, false}, {part->type});
}

// An update returns a tensor that only stands for the cache: its contents are not used.
void no_result(Builder& b) {
  b.result(b.full(b.out_type().sizes, Argument(0), b.out_type().dtype));
}

void update_cache(Builder& b) {
  write_positions(b, b.in("cache"), b.in("value"), b.arg("start_pos"));
  no_result(b);
}

// cache[batch, indices[batch]] = value[batch]
void update_cache_with_indices(Builder& b) {
  Value* cache = b.in("cache");
  Value* batch = b.unsqueeze(b.arange(0, dim_of(cache, 0)), 1);
  const Argument::List indices = {batch, b.in("indices")};
  b.rewriter().emit("aten::index_put_", {cache, indices, b.in("value"), false}, {cache->type});
  no_result(b);
}

void sdpa_with_kv_cache(Builder& b) {
  write_positions(b, b.in("key_cache"), b.in("key"), b.arg("start_pos"));
  write_positions(b, b.in("value_cache"), b.in("value"), b.arg("start_pos"));
  b.result(
      b.rewriter().emit("llama::custom_sdpa",
                        {b.in("query"), b.in("key_cache"), b.in("value_cache"), b.arg("start_pos"),
                         b.arg("attn_mask"), b.arg("drpout_p"), b.arg("is_causal"), b.arg("scale")},
                        {b.out_type()})[0]);
}

// A view of the same memory with other sizes.
void resize(Builder& b) {
  Value* x = b.in("self");
  const std::vector<Sym>& sizes = b.out_type().sizes;
  const Sym before = x->type.numel(), after = b.out_type().numel();
  if (before.is_int() && after.is_int() && after.as_int() > before.as_int()) {
    throw Failure(std::string(b.node().target()) + " makes a tensor of " + before.text() +
                  " elements larger: the new elements would be undefined");
  }
  if (sizes == x->type.sizes) {
    return b.result(b.rewriter().emit("aten::alias", {x}, {x->type})[0]);
  }
  std::vector<Sym> strides(sizes.size(), Sym(1));
  for (size_t d = sizes.size(); d-- > 1;) strides[d - 1] = strides[d] * sizes[d];
  b.result(b.rewriter().emit("aten::as_strided",
                             {x, b.size_list(sizes), b.size_list(strides), Argument()},
                             {TensorType(x->type.dtype, sizes)})[0]);
}

bool decompose_write(Node& node, Builder& b) {
  if (node.is("aten::resize_") || node.is("aten::resize_as_")) {
    if (b.knows("memory_format") && b.has("memory_format")) return false;
    resize(b);
  } else if (node.is("llama::update_cache")) {
    update_cache(b);
  } else if (node.is("llama::update_cache_with_indices")) {
    update_cache_with_indices(b);
  } else if (node.is("llama::sdpa_with_kv_cache")) {
    sdpa_with_kv_cache(b);
  } else {
    return false;
  }
  return true;
}

}  // namespace

int decompose_writes(Graph& graph) {
  int total = 0;
  for (Graph* each : all_graphs(graph)) {
    total += rewrite_sized(*each, [](Node& node, Rewriter& rewriter, SizeTable& sizes) {
      Builder builder(node, rewriter, sizes);
      return decompose_write(node, builder);
    });
  }
  return total;
}

}  // namespace taper::exir
