// Pooling: 1-d, 3-d and adaptive forms in terms of operators that have kernels, mostly the 2-d
// ones.

#include "exir/decompose/rules.h"

namespace taper::exir {
namespace {

std::vector<int64_t> ints(Builder& b, std::string_view name, size_t n) {
  const Argument& arg = b.arg(name);
  std::vector<int64_t> list = arg.is_list() ? to_ints(arg) : std::vector<int64_t>{arg.to_int()};
  if (list.size() == 1) list.resize(n, list[0]);
  return list;
}

// A 1-d parameter for an image of height 1, which stands for a sequence: the window is 1 x k.
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

// The lengths of the result, which may depend on the input's.
Argument::List adaptive_lengths(Builder& b, size_t spatial) {
  const Argument& arg = b.arg("output_size");
  Argument::List list = arg.is_list() ? arg.list() : Argument::List{arg};
  if (list.size() == 1) list.resize(spatial, Argument(list[0]));
  if (list.size() != spatial) throw Failure("output_size does not have a length per dimension");
  return list;
}
bool all_ones(const Argument::List& list) {
  for (const Argument& n : list) {
    if (!n.is_int() || n.to_int() != 1) return false;
  }
  return true;
}

// The dimensions of an image with so many: -spatial, ..., -1.
Argument last_dims(size_t spatial) {
  std::vector<int64_t> dims;
  for (size_t i = spatial; i > 0; --i) dims.push_back(-static_cast<int64_t>(i));
  return int_list(dims);
}

void adaptive_avg_pool(Builder& b, size_t spatial) {
  Value* x = b.in("self");
  const Argument::List out = adaptive_lengths(b, spatial);
  if (all_ones(out)) return b.result(b.op("mean.dim", {x, last_dims(spatial), true}));
  if (spatial == 1) {
    Value* y = b.op("_adaptive_avg_pool2d", {b.unsqueeze(x, -2), Argument::List{1, out[0]}});
    return b.result(b.squeeze(y, -2));
  }
  b.result(b.op("_adaptive_avg_pool2d", {x, out}));
}
void adaptive_avg_pool1d(Builder& b) { adaptive_avg_pool(b, 1); }
void adaptive_avg_pool2d(Builder& b) { adaptive_avg_pool(b, 2); }

// Values and the flat spatial index that each came from.
struct Found {
  Value* values;
  Value* places;
};

// The maximum of each adaptive window [i in/out, (i+1) in/out) along one dimension.
Found adaptive_max(Builder& b, const Found& from, int64_t dim, int64_t out) {
  const Sym in = dim_of(from.values, dim);
  std::vector<Value*> values, places;
  for (int64_t i = 0; i < out; ++i) {
    const Sym first = floor_div(Sym(i) * in, Sym(out));
    const Sym last = floor_div(Sym(i + 1) * in + Sym(out - 1), Sym(out));
    const std::vector<Value*> top =
        b.ops("max.dim", {b.slice(from.values, dim, first, last), dim, true});
    values.push_back(top[0]);
    places.push_back(b.op("gather", {b.slice(from.places, dim, first, last), dim, top[1]}));
  }
  return {b.cat(values, dim), b.cat(places, dim)};
}

// One window is the whole image, whose places are those of its elements in memory. The largest
// element is found by itself, since its place is seldom read.
void largest_of_all(Builder& b, size_t spatial) {
  Value* x = b.in("self");
  b.result(b.op("amax", {x, last_dims(spatial), true}));
  if (b.node().outputs.size() == 1) return;
  std::vector<Sym> line(x->type.sizes.begin(), x->type.sizes.end() - static_cast<int64_t>(spatial));
  Sym count = 1;
  for (size_t i = line.size(); i < x->type.rank(); ++i) count = count * x->type.sizes[i];
  line.push_back(count);
  Value* place = b.ops("max.dim", {b.view(x, line), -1, true})[1];
  b.result(b.view(place, b.out_type(1).sizes), 1);
}

// Reduces the last dimension first, so that of equal values the first one in memory is chosen.
void adaptive_max_pool(Builder& b, size_t spatial) {
  const std::vector<int64_t> out = ints(b, "output_size", spatial);
  Value* x = b.in("self");
  const TensorSizes& in = x->type.sizes;
  const std::vector<Sym> space(in.end() - static_cast<int64_t>(spatial), in.end());
  Sym count = 1;
  for (size_t i = 0; i < spatial; ++i) {
    if (out[i] < 1) throw Failure("pooling to " + std::to_string(out[i]) + " windows");
    count = count * space[i];
  }
  Found found = {x, b.expand(b.view(b.arange(0, count), space), in)};
  for (size_t i = spatial; i-- > 0;) {
    const int64_t dim = static_cast<int64_t>(i) - static_cast<int64_t>(spatial);
    if (!(dim_of(x, dim) == Sym(out[i]))) found = adaptive_max(b, found, dim, out[i]);
  }
  b.result(found.values);
  if (b.node().outputs.size() > 1) b.result(found.places, 1);
}
void adaptive_max_pool1d(Builder& b) { adaptive_max_pool(b, 1); }
void adaptive_max_pool3d(Builder& b) { adaptive_max_pool(b, 3); }

// If the sizes divide evenly, adaptive pooling is plain pooling.
void adaptive_max_pool2d(Builder& b) {
  Value* x = b.in("self");
  const std::vector<int64_t> out = ints(b, "output_size", 2);
  if (out[0] == 1 && out[1] == 1) return largest_of_all(b, 2);
  std::vector<int64_t> kernel(2);
  for (size_t i = 0; i < 2; ++i) {
    const Sym in = dim_of(x, static_cast<int64_t>(i) - 2);
    if (!in.is_int() || out[i] < 1 || in.as_int() % out[i] != 0 || in.as_int() < out[i]) {
      return adaptive_max_pool(b, 2);
    }
    kernel[i] = in.as_int() / out[i];
  }
  std::vector<Value*> y = b.ops("max_pool2d_with_indices", {x, int_list(kernel), int_list(kernel)});
  for (size_t i = 0; i < b.node().outputs.size(); ++i) b.result(y[i], i);
}

// ---- volumes: windows over the planes, then over depth ----

using Sizes = std::vector<Sym>;

// Pools in two passes: pool(x, 1) over height and width of [1, C D, H, W], then pool(x, 0) over
// depth, the height of [1, C, D, H W]. `pool` returns the pooled value.
template <typename Pool>
void pool_volume(Builder& b, const Pool& pool) {
  Value* x = b.in("self");
  const Sizes in = x->type.sizes, out = b.out_type().sizes;
  if (b.out_type().numel() == Sym(0)) return b.result(b.full(out, 0, b.out_type().dtype));
  const size_t rank = in.size();
  Sym lead = 1;
  for (size_t i = 0; i + 3 < rank; ++i) lead = lead * in[i];
  const Sym area = out.at(rank - 2) * out.at(rank - 1);
  Value* planes = pool(b.view(x, {Sym(1), lead * in.at(rank - 3), in[rank - 2], in[rank - 1]}), 1);
  b.result(b.view(pool(b.view(planes, {Sym(1), lead, in[rank - 3], area}), 0), out));
}

// The entries of a 3-d parameter that a pass over planes (1) or depth (0) needs; `neutral` stands
// for the flattened planes.
Argument axes(Builder& b, std::string_view name, size_t pass, int64_t neutral) {
  const std::vector<int64_t> list = ints(b, name, 3);
  if (list.empty()) return Argument::List();  // An empty stride is the kernel size.
  return pass == 1 ? int_list({list.at(1), list.at(2)}) : int_list({list.at(0), neutral});
}

// The index of a maximum: the plane that the pass over depth chose, and the place within that
// plane.
void max_pool3d(Builder& b) {
  Value* planes_from = nullptr;
  Value* depth_from = nullptr;
  pool_volume(b, [&](Value* x, size_t pass) {
    const std::vector<Value*> y =
        b.ops("max_pool2d_with_indices",
              {x, axes(b, "kernel_size", pass, 1), axes(b, "stride", pass, 1),
               axes(b, "padding", pass, 0), axes(b, "dilation", pass, 1), b.arg("ceil_mode")});
    (pass == 1 ? planes_from : depth_from) = y[1];
    return y[0];
  });
  if (b.node().outputs.size() < 2 || planes_from == nullptr) return;
  const Sizes& in = b.in("self")->type.sizes;
  const Sizes& out = b.out_type().sizes;
  const size_t rank = in.size();
  const Sym lead = dim_of(depth_from, 1), area = out.at(rank - 2) * out.at(rank - 1);
  Value* chosen = b.view(depth_from, {lead, out.at(rank - 3) * area});
  Value* inside = b.op("gather", {b.view(planes_from, {lead, in.at(rank - 3) * area}), 1, chosen});
  Value* plane = b.op("div.Scalar_mode", {chosen, b.size(area), "floor"});
  Value* place = b.add(b.mul(plane, b.size(in.at(rank - 2) * in.at(rank - 1))), inside);
  b.result(b.view(place, out), 1);
}

// Computes in float64 and truncates to integers once.
void avg_pool3d_of_integers(Builder& b) {
  std::vector<Argument> args = b.node().args;
  args[0] = b.cast(b.in("self"), ScalarType::kDouble);
  const TensorType type(ScalarType::kDouble, b.out_type().sizes);
  b.result(b.rewriter().emit("aten::avg_pool3d", args, {type})[0]);
}

// divisor_override must divide once: the pass over planes divides by 1.
void avg_pool3d(Builder& b) {
  if (!is_floating(b.out_type().dtype)) return avg_pool3d_of_integers(b);
  pool_volume(b, [&](Value* x, size_t pass) {
    Argument divisor = b.arg("divisor_override");
    if (!divisor.is_none() && pass == 1) divisor = 1;
    return b.op("avg_pool2d", {x, axes(b, "kernel_size", pass, 1), axes(b, "stride", pass, 1),
                               axes(b, "padding", pass, 0), b.arg("ceil_mode"),
                               b.arg("count_include_pad"), divisor});
  });
}

void adaptive_avg_pool3d(Builder& b) {
  const Argument::List out = adaptive_lengths(b, 3);
  if (all_ones(out)) return adaptive_avg_pool(b, 3);
  pool_volume(b, [&](Value* x, size_t pass) {
    const Sizes& sizes = b.out_type().sizes;
    const size_t rank = sizes.size();
    const Argument area = b.size(sizes.at(rank - 2) * sizes.at(rank - 1));
    const Argument::List plane = {out[1], out[2]}, depth = {out[0], area};
    return b.op("_adaptive_avg_pool2d", {x, pass == 1 ? plane : depth});
  });
}

// Puts each value back where its maximum was, zeros elsewhere.
void max_unpool(Builder& b) {
  const Sizes& in = b.in("self")->type.sizes;
  const Sizes& out = b.out_type().sizes;
  const size_t lead = in.size() - b.arg("output_size").list().size();
  Sizes flat_in(in.begin(), in.begin() + static_cast<int64_t>(lead)), flat_out = flat_in;
  Sym taken = 1, whole = 1;
  for (size_t d = lead; d < in.size(); ++d) {
    taken = taken * in[d];
    whole = whole * out[d];
  }
  flat_in.push_back(taken);
  flat_out.push_back(whole);
  Value* zeros = b.full(flat_out, 0, b.out_type().dtype);
  Value* y = b.op("scatter.src",
                  {zeros, -1, b.view(b.in("indices"), flat_in), b.view(b.in("self"), flat_in)});
  b.result(b.view(y, out));
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
      {"max_unpool2d", max_unpool},
      {"max_unpool3d", max_unpool},
      {"max_pool3d", max_pool3d},
      {"max_pool3d_with_indices", max_pool3d},
      {"avg_pool3d", avg_pool3d, kWide},
      {"adaptive_avg_pool3d", adaptive_avg_pool3d, kWide},
      {"_adaptive_avg_pool3d", adaptive_avg_pool3d, kWide},
      {"adaptive_max_pool1d", adaptive_max_pool1d},
      {"adaptive_max_pool3d", adaptive_max_pool3d},
  };
  return table;
}

}  // namespace taper::exir
