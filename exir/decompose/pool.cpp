// Pooling: adaptive and 1-d forms become the 2-d kernels.

#include "exir/decompose/rules.h"

namespace taper::exir {
namespace {

std::vector<int64_t> ints(Builder& b, std::string_view name, size_t n) {
  const Argument& arg = b.arg(name);
  std::vector<int64_t> list = arg.is_list() ? to_ints(arg) : std::vector<int64_t>{arg.to_int()};
  if (list.size() == 1) list.resize(n, list[0]);
  return list;
}

// An image of height 1 in place of a sequence: the window is 1 x k.
Argument lifted(const std::vector<int64_t>& list, int64_t height) {
  if (list.empty()) return Argument::List();
  return int_list({height, list[0]});
}

void max_pool2d(Builder& b) {
  b.result(
      b.op("max_pool2d_with_indices", {b.in("self"), b.arg("kernel_size"), b.arg("stride"),
                                       b.arg("padding"), b.arg("dilation"), b.arg("ceil_mode")}));
}

void max_pool1d(Builder& b) {
  Value* x = b.unsqueeze(b.in("self"), -2);
  std::vector<Value*> y = b.ops(
      "max_pool2d_with_indices",
      {x, lifted(ints(b, "kernel_size", 1), 1), lifted(ints(b, "stride", 1), 1),
       lifted(ints(b, "padding", 1), 0), lifted(ints(b, "dilation", 1), 1), b.arg("ceil_mode")});
  for (size_t i = 0; i < b.node().outputs.size(); ++i) b.result(b.squeeze(y[i], -2), i);
}

void avg_pool1d(Builder& b) {
  Value* x = b.unsqueeze(b.in("self"), -2);
  Value* y = b.op("avg_pool2d", {x, lifted(ints(b, "kernel_size", 1), 1),
                                 lifted(ints(b, "stride", 1), 1), lifted(ints(b, "padding", 1), 0),
                                 b.arg("ceil_mode"), b.arg("count_include_pad"), Argument()});
  b.result(b.squeeze(y, -2));
}

bool all_ones(const std::vector<int64_t>& list) {
  for (int64_t n : list) {
    if (n != 1) return false;
  }
  return true;
}

void adaptive_avg_pool(Builder& b, size_t spatial) {
  Value* x = b.in("self");
  const std::vector<int64_t> out = ints(b, "output_size", spatial);
  if (all_ones(out)) {
    std::vector<int64_t> dims;
    for (size_t i = spatial; i > 0; --i) dims.push_back(-static_cast<int64_t>(i));
    return b.result(b.op("mean.dim", {x, int_list(dims), true}));
  }
  if (spatial == 1) {
    Value* y = b.op("_adaptive_avg_pool2d", {b.unsqueeze(x, -2), int_list({1, out[0]})});
    return b.result(b.squeeze(y, -2));
  }
  b.result(b.op("_adaptive_avg_pool2d", {x, int_list(out)}));
}
void adaptive_avg_pool1d(Builder& b) { adaptive_avg_pool(b, 1); }
void adaptive_avg_pool2d(Builder& b) { adaptive_avg_pool(b, 2); }

// The largest of each adaptive window [i in/out, (i+1) in/out) along one dimension.
Value* adaptive_max(Builder& b, Value* x, int64_t dim, int64_t out) {
  const int64_t in = dim_of(x, dim).as_int();
  std::vector<Value*> parts;
  for (int64_t i = 0; i < out; ++i) {
    Value* window = b.slice(x, dim, i * in / out, ((i + 1) * in + out - 1) / out);
    parts.push_back(b.op("amax", {window, int_list({dim}), true}));
  }
  return b.cat(parts, dim);
}

// With sizes that divide evenly an adaptive window is a plain one; otherwise rows first, then
// columns, and no indices.
void adaptive_max_pool2d(Builder& b) {
  Value* x = b.in("self");
  const std::vector<int64_t> out = ints(b, "output_size", 2);
  std::vector<int64_t> kernel(2);
  bool even = true;
  for (size_t i = 0; i < 2; ++i) {
    const Sym in = dim_of(x, static_cast<int64_t>(i) - 2);
    if (!in.is_int() || out[i] < 1) {
      throw Failure("adaptive_max_pool2d from " + in.text() + " to " + std::to_string(out[i]) +
                    ": the sizes must be known and positive");
    }
    kernel[i] = in.as_int() / out[i];
    even = even && in.as_int() % out[i] == 0;
  }
  if (!even) return b.result(adaptive_max(b, adaptive_max(b, x, -2, out[0]), -1, out[1]));
  std::vector<Value*> y = b.ops("max_pool2d_with_indices", {x, int_list(kernel), int_list(kernel)});
  for (size_t i = 0; i < b.node().outputs.size(); ++i) b.result(y[i], i);
}

}  // namespace

const Decompositions& pool_rules() {
  static const Decompositions table = {
      {"max_pool2d", max_pool2d},
      {"max_pool1d", max_pool1d},
      {"max_pool1d_with_indices", max_pool1d},
      {"avg_pool1d", avg_pool1d},
      {"adaptive_avg_pool1d", adaptive_avg_pool1d},
      {"adaptive_avg_pool2d", adaptive_avg_pool2d},
      {"adaptive_max_pool2d", adaptive_max_pool2d},
  };
  return table;
}

}  // namespace taper::exir
