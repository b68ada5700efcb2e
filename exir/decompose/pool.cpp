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

// ---- volumes: windows over the planes, then over depth ----

using Sizes = std::vector<Sym>;

// Calls pool(images, kind of axes) twice: 1 for height and width of [1, C D, H, W], 0 for depth as
// the height of [1, C, D, H W]. `pool` returns the pooled value.
template <typename Pool>
void pool_volume(Builder& b, const Pool& pool) {
  Value* x = b.in("self");
  const Sizes in = x->type.sizes, out = b.out_type().sizes;
  const size_t rank = in.size();
  Sym lead = 1;
  for (size_t i = 0; i + 3 < rank; ++i) lead = lead * in[i];
  const Sym area = out.at(rank - 2) * out.at(rank - 1);
  Value* planes = pool(b.view(x, {Sym(1), lead * in.at(rank - 3), in[rank - 2], in[rank - 1]}), 1);
  b.result(b.view(pool(b.view(planes, {Sym(1), lead, in[rank - 3], area}), 0), out));
}

// The two entries of a 3-d parameter that a pass needs; `neutral` for the flattened planes.
Argument axes(Builder& b, std::string_view name, size_t pass, int64_t neutral) {
  const std::vector<int64_t> list = ints(b, name, 3);
  if (list.empty()) return Argument::List();  // A stride that is the kernel.
  return pass == 1 ? int_list({list.at(1), list.at(2)}) : int_list({list.at(0), neutral});
}

void max_pool3d(Builder& b) {
  pool_volume(b, [&](Value* x, size_t pass) {
    return b.op("max_pool2d_with_indices",
                {x, axes(b, "kernel_size", pass, 1), axes(b, "stride", pass, 1),
                 axes(b, "padding", pass, 0), axes(b, "dilation", pass, 1), b.arg("ceil_mode")});
  });
}

// A divisor of the caller's choice divides once: the sums of the planes are divided by 1.
void avg_pool3d(Builder& b) {
  pool_volume(b, [&](Value* x, size_t pass) {
    Argument divisor = b.arg("divisor_override");
    if (!divisor.is_none() && pass == 1) divisor = 1;
    return b.op("avg_pool2d", {x, axes(b, "kernel_size", pass, 1), axes(b, "stride", pass, 1),
                               axes(b, "padding", pass, 0), b.arg("ceil_mode"),
                               b.arg("count_include_pad"), divisor});
  });
}

void adaptive_avg_pool3d(Builder& b) {
  const std::vector<int64_t> out = ints(b, "output_size", 3);
  if (all_ones(out)) return adaptive_avg_pool(b, 3);
  pool_volume(b, [&](Value* x, size_t pass) {
    const Argument size =
        pass == 1 ? int_list({out[1], out[2]}) : int_list({out[0], out[1] * out[2]});
    return b.op("_adaptive_avg_pool2d", {x, size});
  });
}

void adaptive_max(Builder& b, size_t spatial) {
  const std::vector<int64_t> out = ints(b, "output_size", spatial);
  Value* x = b.in("self");
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t dim = static_cast<int64_t>(i) - static_cast<int64_t>(spatial);
    if (!dim_of(x, dim).is_int()) throw Failure("adaptive max pooling over a symbolic size");
    x = adaptive_max(b, x, dim, out[i]);
  }
  b.result(x);
}
void adaptive_max_pool1d(Builder& b) { adaptive_max(b, 1); }
void adaptive_max_pool3d(Builder& b) { adaptive_max(b, 3); }

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
      {"max_pool3d", max_pool3d},
      {"max_pool3d_with_indices", max_pool3d},
      {"avg_pool3d", avg_pool3d},
      {"adaptive_avg_pool3d", adaptive_avg_pool3d},
      {"_adaptive_avg_pool3d", adaptive_avg_pool3d},
      {"adaptive_max_pool1d", adaptive_max_pool1d},
      {"adaptive_max_pool3d", adaptive_max_pool3d},
  };
  return table;
}

}  // namespace taper::exir
