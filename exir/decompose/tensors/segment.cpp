// Reductions over parts that data define: segments of a dimension, histograms, bincount, and
// fractional max pooling.

#include <cmath>
#include <limits>

#include "exir/decompose/rules.h"
#include "exir/ops/infer.h"

namespace taper::exir {
namespace {

using Sizes = std::vector<Sym>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr auto kLong = ScalarType::kLong;

// ---- segments ----

// Where each segment begins and ends, according to `offsets` or `lengths`.
struct Ends {
  Value* begin;
  Value* end;
};
Ends ends_of(Builder& b) {
  if (b.has("offsets")) {
    Value* offsets = b.cast(b.in("offsets"), kLong);
    const Sym count = dim_of(offsets, -1);
    return {b.slice(offsets, -1, 0, count - Sym(1)), b.slice(offsets, -1, 1, count)};
  }
  if (!b.has("lengths")) throw Failure("segment_reduce without lengths or offsets");
  Value* lengths = b.cast(b.in("lengths"), kLong);
  Value* end = b.op("cumsum", {lengths, -1});
  return {b.sub(end, lengths), end};
}

double neutral(const std::string& how) {
  if (how == "max") return -kInfinity;
  if (how == "min") return kInfinity;
  return how == "prod" ? 1 : 0;
}

// Compares all elements with all segments; in each segment, the elements outside it are replaced by
// the neutral element of the reduction.
void segment_reduce(Builder& b) {
  Value* x = b.in("data");
  const std::string& how = b.arg("reduce").text();
  const int64_t axis = wrap_dim(b.arg("axis").to_int(), static_cast<int64_t>(x->type.rank()));
  const Ends ends = ends_of(b);
  Value* place = b.arange(0, dim_of(x, axis));
  Value* inside = b.op("logical_and", {b.op("ge.Tensor", {place, b.unsqueeze(ends.begin, -1)}),
                                       b.op("lt.Tensor", {place, b.unsqueeze(ends.end, -1)})});
  Sizes sizes = inside->type.sizes;
  sizes.resize(x->type.rank() + 1, Sym(1));
  Value* chosen = b.where(b.view(inside, sizes), b.unsqueeze(x, axis), neutral(how));
  const bool started = b.has("initial");
  const double initial = started ? b.arg("initial").to_double() : neutral(how);
  if (how == "max" || how == "min") {
    Value* y = b.op(how == "max" ? "amax" : "amin", {chosen, int_list({axis + 1})});
    Value* start = b.constant(initial, y->type.dtype);
    return b.result(b.op(how == "max" ? "maximum" : "minimum", {y, start}));
  }
  if (how == "prod") {
    return b.result(b.mul(b.op("prod.dim_int", {chosen, axis + 1, false}), initial));
  }
  Value* y = b.add(b.sum(chosen, {axis + 1}), initial);
  if (how == "sum") return b.result(y);
  if (how != "mean") throw Failure("segment_reduce by '" + how + "'");
  sizes.erase(sizes.begin() + axis + 1);
  Value* length = b.view(b.sub(ends.end, ends.begin), sizes);
  Value* mean = b.div(y, b.cast(b.op("clamp", {length, 1, Argument()}), y->type.dtype));
  const double empty = started ? initial : std::numeric_limits<double>::quiet_NaN();
  b.result(b.where(b.op("eq.Scalar", {length, 0}), empty, mean));
}

// ---- bins ----

// The number or weight of the values between neighbouring edges; the last bin includes its upper
// edge.
void count_between(Builder& b, Value* edges) {
  Value* x = b.view(b.in("self"), {b.in("self")->type.numel(), Sym(1)});
  const Sym count = dim_of(edges, 0) - Sym(1);
  Value* low = b.slice(edges, 0, 0, count);
  Value* high = b.slice(edges, 0, 1, count + Sym(1));
  Value* last = b.op("eq.Scalar", {b.arange(0, count), b.size(count - Sym(1))});
  Value* top = b.op("logical_and", {last, b.op("eq.Tensor", {x, high})});
  Value* below = b.op("logical_or", {b.op("lt.Tensor", {x, high}), top});
  Value* inside = b.op("logical_and", {b.op("ge.Tensor", {x, low}), below});
  Value* weight = b.constant(1, edges->type.dtype);
  if (b.has("weight")) weight = b.view(b.in("weight"), x->type.sizes);
  Value* hist = b.sum(b.where(inside, weight, 0.0), {0});
  if (b.arg("density").to_bool()) {
    hist = b.div(b.div(hist, b.sum(hist)), b.sub(high, low));
  }
  b.result(hist, 0);
  b.result(edges, 1);
}
void histogram_of_edges(Builder& b) { count_between(b, b.in("bins")); }
void histogram(Builder& b) {
  const ScalarType dtype = b.in("self")->type.dtype;
  const int64_t bins = b.arg("bins").to_int();
  Value *low = nullptr, *high = nullptr;
  if (b.has("range")) {
    const Argument::List range = b.arg("range").list();
    low = b.constant(range.at(0).to_double(), dtype);
    high = b.constant(range.at(1).to_double(), dtype);
  } else {
    low = b.op("amin", {b.in("self"), Argument::List(), false});
    high = b.op("amax", {b.in("self"), Argument::List(), false});
  }
  Value* none = b.cast(b.op("eq.Tensor", {low, high}), dtype);
  low = b.sub(low, b.mul(none, 0.5));
  high = b.add(high, b.mul(none, 0.5));
  count_between(b, b.rewriter().emit("aten::linspace.Tensor_Tensor", {low, high, bins + 1, dtype},
                                     {TensorType(dtype, {Sym(bins + 1)})})[0]);
}

// How often each number occurs. The size of the result is data-dependent: the largest number plus
// 1.
void bincount(Builder& b) {
  Value* x = b.cast(b.in("self"), kLong);
  const Argument& least = b.arg("minlength");
  const Sym size = b.out_type().sizes.at(0);
  if (!size.is_int()) {
    Value* most = b.add(b.op("amax", {x, Argument::List(), false}), 1);
    b.define_size(size, b.op("clamp", {most, least, Argument()}));
  }
  const ScalarType dtype = b.out_type().dtype;
  Value* each = b.has("weights") ? b.cast(b.in("weights"), dtype) : b.full(x->type.sizes, 1, dtype);
  b.result(b.op("index_put", {b.full({size}, 0, dtype), Argument::List{x}, each, true}));
}

// ---- fractional max pooling ----

// Where the windows along a dimension begin, [..., count]. `drawn` is one random number per plane;
// the last window lies at the end.
Value* window_starts(Builder& b, Value* drawn, const Sym& size, int64_t window, int64_t count) {
  Value* end = b.full({}, b.size(size - Sym(window)), kLong);
  drawn = b.unsqueeze(drawn, -1);
  if (count == 1) {
    Value* zero = b.cast(b.mul(drawn, 0.0), kLong);
    return b.add(zero, end);
  }
  const ScalarType dtype = drawn->type.dtype;
  Value* alpha = b.div(b.cast(end, dtype), static_cast<double>(count - 1));
  const auto floor_of = [&](Value* x) { return b.cast(b.op("trunc", {x}), kLong); };
  Value* i = b.arange(0, count);
  Value* first = floor_of(b.mul(drawn, alpha));
  Value* starts = b.sub(floor_of(b.mul(b.add(b.cast(i, dtype), drawn), alpha)), first);
  return b.op("where.self", {b.op("eq.Scalar", {i, count - 1}), end, starts});
}

// The maximum of each window, and its flat index in the plane.
void fractional_max_pool(Builder& b, int64_t dims) {
  Value* x = b.in("self");
  const bool lone = static_cast<int64_t>(x->type.rank()) == dims + 1;
  if (lone) x = b.unsqueeze(x, 0);
  const std::vector<int64_t> kernel = to_ints(b.arg("kernel_size"));
  const std::vector<int64_t> out = to_ints(b.arg("output_size"));
  const Sizes planes(x->type.sizes.begin(), x->type.sizes.begin() + 2);
  Value* place = nullptr;  // [n, c, out..., kernel...], flat in the plane.
  for (int64_t d = 0; d < dims; ++d) {
    const auto at = static_cast<size_t>(d);
    // In images the random samples start with the last dimension, in volumes with the first.
    Value* drawn = b.select(b.in("random_samples"), -1, dims == 2 ? 1 - d : d);
    const Sym size = dim_of(x, 2 + d);
    Value* starts = window_starts(b, drawn, size, kernel.at(at), out.at(at));
    Value* line = b.add(b.unsqueeze(starts, -1), b.arange(0, kernel.at(at)));
    Sizes sizes = {dim_of(line, 0), dim_of(line, 1)};
    sizes.resize(static_cast<size_t>(2 + 2 * dims), Sym(1));
    sizes[2 + at] = out.at(at);
    sizes[static_cast<size_t>(2 + dims) + at] = kernel.at(at);
    line = b.view(line, sizes);
    place = place == nullptr ? line : b.add(b.mul(place, b.size(size)), line);
  }
  Sizes flat = planes;
  Sym windows = 1, window = 1;
  for (size_t d = 0; d < static_cast<size_t>(dims); ++d) {
    windows = windows * Sym(out.at(d));
    window = window * Sym(kernel.at(d));
  }
  flat.push_back(windows * window);
  Sizes full = planes;
  full.insert(full.end(), place->type.sizes.begin() + 2, place->type.sizes.end());
  place = b.view(b.expand(place, full), flat);
  Sizes plane = planes;
  plane.push_back(product(x->type.sizes, 2, x->type.rank()));
  Sizes grid = planes;
  grid.push_back(windows);
  grid.push_back(window);
  Value* values = b.view(b.op("gather", {b.view(x, plane), -1, place}), grid);
  const auto found = b.ops("max.dim", {values, -1, true});
  Value* where = b.op("gather", {b.view(place, grid), -1, found[1]});
  b.result(b.view(found[0], b.out_type(0).sizes), 0);
  b.result(b.view(where, b.out_type(1).sizes), 1);
}
void fractional_max_pool2d(Builder& b) { fractional_max_pool(b, 2); }
void fractional_max_pool3d(Builder& b) { fractional_max_pool(b, 3); }

}  // namespace

const Decompositions& segment_rules() {
  static const Decompositions table = {
      {"segment_reduce", segment_reduce, kWide},
      {"histogram.bins_tensor", histogram_of_edges},
      {"histogram.bin_ct", histogram},
      {"bincount", bincount},
      {"fractional_max_pool2d", fractional_max_pool2d, kWide},
      {"fractional_max_pool3d", fractional_max_pool3d, kWide},
  };
  return table;
}

}  // namespace taper::exir
