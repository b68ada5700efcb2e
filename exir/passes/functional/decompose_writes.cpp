// One function per operator, which emits the same writes as slices, copy_, index_put_ or
// as_strided.

#include "exir/passes/functional/decompose_writes.h"

#include <algorithm>

#include "exir/decompose/builder.h"
#include "exir/decompose/layers/norm.h"
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

// A view of the same memory with other sizes. The last one of complex numbers is that of the pairs,
// which no operator names.
void resize(Builder& b) {
  Value* x = b.in("self");
  std::vector<Sym> sizes = b.out_type().sizes;
  const Sym before = x->type.numel(), after = b.out_type().numel();
  if (before.is_int() && after.is_int() && after.as_int() > before.as_int()) {
    throw Failure(std::string(b.node().target()) + " makes a tensor of " + before.text() +
                  " elements larger: the new elements would be undefined");
  }
  if (sizes == x->type.sizes) {
    return b.result(b.rewriter().emit("aten::alias", {x}, {x->type})[0]);
  }
  if (x->type.pairs) sizes.pop_back();
  std::vector<Sym> strides(sizes.size(), Sym(1));
  for (size_t d = sizes.size(); d-- > 1;) strides[d - 1] = strides[d] * sizes[d];
  b.result(b.rewriter().emit("aten::as_strided",
                             {x, b.size_list(sizes), b.size_list(strides), Argument()},
                             {b.out_type()})[0]);
}

// In training, batch norms move their running statistics, which not all of their schemas say.
bool moves_statistics(const Node& node) {
  const bool always = node.is("aten::_batch_norm_with_update");
  if (!always && !node.is("aten::batch_norm") && !node.is("aten::native_batch_norm") &&
      !node.is("aten::_native_batch_norm_legit")) {
    return false;
  }
  return (always || node.arg("training").to_bool()) && !node.arg("running_mean").is_none() &&
         node.arg("input").value()->type.rank() >= 2;
}

// running = (1 - momentum) * running + momentum * value
void move_towards(Builder& b, Value* running, Value* value) {
  const double momentum = b.arg("momentum").to_double();
  Value* moved = b.add(b.mul(running, 1 - momentum), b.mul(value, momentum));
  b.rewriter().emit("aten::copy_", {running, moved, false}, {running->type});
}

// The statistics of the batch normalise it, and those that run move towards them.
void batch_norm_in_training(Builder& b) {
  const size_t wanted = b.node().outputs.size();
  Value *x = b.in("input"), *mean = b.in("running_mean"), *variance = b.in("running_var");
  const std::vector<Value*> results = normalise_by_batch(b);
  std::vector<int64_t> others = {0};
  for (size_t d = 2; d < x->type.rank(); ++d) others.push_back(static_cast<int64_t>(d));
  Value* wide = b.cast(x, mean->type.dtype);
  move_towards(b, mean, b.op("mean.dim", {wide, int_list(others)}));
  move_towards(b, variance, b.op("var.correction", {wide, int_list(others), 1}));
  for (size_t i = 0; i < std::min<size_t>(wanted, 3); ++i) b.result(results[i], i);
  if (wanted > 3) b.result(b.full(b.out_type(3).sizes, Argument(0), b.out_type(3).dtype), 3);
}

// In evaluation nothing is written.
void batch_norm_in_evaluation(Builder& b) {
  const std::vector<Value*> results = normalise_by_running(b);
  for (size_t i = 0; i < results.size(); ++i) b.result(results[i], i);
}

bool decompose_write(Node& node, Builder& b, Aten aten) {
  if (moves_statistics(node)) {
    if (aten == Aten::kNo) return false;
    batch_norm_in_training(b);
    return true;
  }
  if (node.is("aten::_native_batch_norm_legit") && !node.arg("training").to_bool()) {
    batch_norm_in_evaluation(b);
    return true;
  }
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

int decompose_writes(Graph& graph, Aten aten) {
  int total = 0;
  for (Graph* each : all_graphs(graph)) {
    total += rewrite_sized(*each, [&](Node& node, Rewriter& rewriter, SizeTable& sizes) {
      Builder builder(node, rewriter, sizes);
      return decompose_write(node, builder, aten);
    });
  }
  return total;
}

}  // namespace taper::exir
