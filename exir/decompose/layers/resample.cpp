// Values between grid points: interpolation in one to three dimensions, grids for sampling, and
// images as columns of windows.
//
// Interpolation works along one dimension at a time. One without a kernel becomes a product with a
// constant matrix of weights: out[o] = sum over i of W[o][i] in[i].

#include <algorithm>
#include <cmath>

#include "exir/decompose/rules.h"
#include "exir/ops/infer.h"

namespace taper::exir {
namespace {

using Sizes = std::vector<Sym>;

int64_t known(const Sym& size, const Node& node) {
  if (size.is_int()) return size.as_int();
  throw Failure(std::string(node.target()) + " over the symbolic size " + size.text());
}

template <typename T>
Value* constant(Builder& b, const std::vector<T>& data, ScalarType dtype, const Sizes& sizes) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(data.data());
  std::vector<uint8_t> copy(bytes, bytes + data.size() * sizeof(T));
  return b.rewriter().graph().new_constant("table", TensorType(dtype, sizes),
                                           own_bytes(std::move(copy)));
}

// ---- volumes: an image over the planes, then a column over depth ----

// Entry `i` of the call's scale factors; None if sizes were given.
Argument scale_of(Builder& b, size_t i) {
  static constexpr const char* kNames[] = {"scales_d", "scales_h", "scales_w"};
  const Schema& schema = *b.node().schema;
  if (i >= std::size(kNames))
    throw Failure(std::string(b.node().target()) + " of more than 3 sizes");
  if (schema.find("scale_factors") < 0) return b.arg(kNames[i]);
  return b.has("scale_factors") ? b.arg("scale_factors").list().at(i) : Argument();
}

// Emits one 2-d resize to `out`, by the scale factors if both are given.
Value* resize2d(Builder& b, const char* op, Value* x, const Sizes& out, Argument first,
                Argument second) {
  std::vector<Argument> args = {x, Argument()};
  if (b.node().schema->find("align_corners") >= 0) args.push_back(b.arg("align_corners"));
  if (first.is_none() || second.is_none()) {
    args[1] = b.size_list(out);
    args.push_back(Argument());
  } else {
    args.push_back(Argument::List{std::move(first), std::move(second)});
  }
  Sizes sizes = x->type.sizes;
  if (sizes.size() < 2) throw Failure("an image has rows and columns");
  std::copy(out.begin(), out.end(), sizes.end() - 2);
  return b.rewriter().emit(std::string("aten::") + op, args, {TensorType(x->type.dtype, sizes)})[0];
}

void resize3d(Builder& b, const char* op) {
  Value* x = b.args()[0].value();
  const Sizes in = x->type.sizes, out = b.out_type().sizes;
  const Sym lead = in.at(0) * in.at(1);
  Value* planes = resize2d(b, op, b.view(x, {Sym(1), lead * in.at(2), in.at(3), in.at(4)}),
                           {out[3], out[4]}, scale_of(b, 1), scale_of(b, 2));
  Value* columns = b.view(planes, {Sym(1), lead, in[2], out[3] * out[4]});
  Value* y = resize2d(b, op, columns, {out[2], out[3] * out[4]}, scale_of(b, 0),
                      scale_of(b, 0).is_none() ? Argument() : Argument(1.0));
  b.result(b.view(y, out));
}
void nearest3d(Builder& b) { resize3d(b, "upsample_nearest2d.vec"); }
void trilinear3d(Builder& b) { resize3d(b, "upsample_bilinear2d.vec"); }

// ---- nearest-exact: the nearest centre ----

// Entry `i` of the scale factors of a call over `spatial` dimensions.
Argument factor_of(Builder& b, size_t i, size_t spatial) {
  return scale_of(b, b.knows("scale_factors") ? i : i + 3 - spatial);
}

// The nearest input of each output along one dimension: floor((i + 0.5) * step), in float32.
Value* nearest_places(Builder& b, const Sym& in, const Sym& out, const Argument& factor) {
  Value* centres = b.add(b.arange(0, out, ScalarType::kFloat), 0.5);
  if (factor.is_none()) {
    Value* from = b.full({}, b.size(in), ScalarType::kFloat);
    centres = b.mul(centres, b.div(from, b.full({}, b.size(out), ScalarType::kFloat)));
  } else {
    const auto step = static_cast<float>(1.0 / factor.to_double());
    centres = b.mul(centres, static_cast<double>(step));
  }
  return b.op("clamp", {b.cast(centres, ScalarType::kLong), 0, b.size(in - Sym(1))});
}

void nearest_exact(Builder& b) {
  Value* x = b.args()[0].value();
  const size_t spatial = x->type.rank() - 2;
  for (size_t i = 0; i < spatial; ++i) {
    const auto dim = static_cast<int64_t>(i + 2);
    Value* places =
        nearest_places(b, dim_of(x, dim), b.out_type().sizes[i + 2], factor_of(b, i, spatial));
    x = b.op("index_select", {x, dim, places});
  }
  b.result(x);
}

// ---- bicubic ----

// Keys' cubic kernel, at a distance of `x`.
double cubic(double x, double a) {
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

// The distance in the input between neighbouring outputs.
double step_of(int64_t in, int64_t out, bool align_corners, const Argument& scale) {
  if (align_corners)
    return out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0;
  if (!scale.is_none() && scale.to_double() > 0) return 1.0 / scale.to_double();
  return static_cast<double>(in) / static_cast<double>(out);
}

// The weights of the four inputs around each output; inputs beyond the edge count as the edge.
std::vector<double> cubic_weights(int64_t in, int64_t out, double step, bool align_corners) {
  std::vector<double> weights(static_cast<size_t>(in * out));
  for (int64_t o = 0; o < out; ++o) {
    const double d = static_cast<double>(o);
    const double place = align_corners ? d * step : (d + 0.5) * step - 0.5;
    const double floor = std::floor(place);
    for (int64_t k = -1; k <= 2; ++k) {
      const int64_t i = std::clamp<int64_t>(static_cast<int64_t>(floor) + k, 0, in - 1);
      const double distance = place - floor - static_cast<double>(k);
      weights[static_cast<size_t>(o * in + i)] += cubic(distance, -0.75);
    }
  }
  return weights;
}

// The same with antialiasing: where the step is above one, the kernel is widened by it, so that
// every input contributes. The weights of one output add up to one.
std::vector<double> smooth_weights(int64_t in, int64_t out, double step) {
  std::vector<double> weights(static_cast<size_t>(in * out));
  const double widened = std::max(step, 1.0);
  for (int64_t o = 0; o < out; ++o) {
    const double centre = step * (static_cast<double>(o) + 0.5);
    const auto first = static_cast<int64_t>(std::max(centre - 2 * widened + 0.5, 0.0));
    const int64_t end = std::min(static_cast<int64_t>(centre + 2 * widened + 0.5), in);
    double* row = &weights[static_cast<size_t>(o * in)];
    double total = 0;
    for (int64_t i = first; i < end; ++i) {
      row[i] = cubic((static_cast<double>(i) - centre + 0.5) / widened, -0.5);
      total += row[i];
    }
    for (int64_t i = first; i < end && total != 0; ++i) row[i] /= total;
  }
  return weights;
}

constexpr int64_t kMostWeights = int64_t{1} << 24;

// Bytes are resampled in fixed point: weights are rounded to multiples of 2^-precision, the finest
// for which the largest weight stays below 2^15 of them.
void round_weights(std::vector<double>& weights) {
  const double most = *std::max_element(weights.begin(), weights.end());
  int precision = 0;
  while (precision < 22 && std::ldexp(most, precision + 1) + 0.5 < 1 << 15) ++precision;
  for (double& w : weights) {
    w = std::ldexp(std::trunc(std::ldexp(w, precision) + (w < 0 ? -0.5 : 0.5)), -precision);
  }
}

// The weights [out, in] for dimension `d` of the last two.
Value* cubic_matrix(Builder& b, Value* x, size_t d, const Argument& scale) {
  const int64_t in = known(dim_of(x, static_cast<int64_t>(d) - 2), b.node());
  const int64_t out = known(b.out_type().sizes.at(2 + d), b.node());
  if (in < 1 || out < 1 || in > kMostWeights / out) {
    throw Failure("bicubic from " + std::to_string(in) + " to " + std::to_string(out));
  }
  const bool align = b.arg("align_corners").to_bool();
  const double step = step_of(in, out, align, scale);
  const bool smooth = b.node().target().find("_aa") != std::string_view::npos;
  std::vector<double> weights =
      smooth ? smooth_weights(in, out, step) : cubic_weights(in, out, step, align);
  if (!is_floating(b.out_type().dtype)) round_weights(weights);
  Value* table = constant(b, weights, ScalarType::kDouble, {Sym(out), Sym(in)});
  return b.cast(table, x->type.dtype);
}

// The same polynomials, of numbers within [0, 1] (`near`) and within [1, 2].
Value* cubic(Builder& b, Value* x, bool near, double a) {
  const auto times_plus = [&](Value* y, double number) { return b.add(b.mul(y, x), number); };
  if (near) return times_plus(b.mul(b.add(b.mul(x, a + 2), -(a + 3)), x), 1);
  return times_plus(times_plus(b.add(b.mul(x, a), -5 * a), 8 * a), -4 * a);
}

// `step_of` for lengths of which one is not known yet.
Value* step_value(Builder& b, Value* x, size_t d, const Argument& scale) {
  const Sym in = dim_of(x, static_cast<int64_t>(2 + d)), out = b.out_type().sizes.at(2 + d);
  const auto number = [&](const Sym& size) { return b.full({}, b.size(size), x->type.dtype); };
  if (b.arg("align_corners").to_bool()) {
    const Sym gaps = out - Sym(1);
    return b.div(number((in - Sym(1)) * min(gaps, Sym(1))), number(max(gaps, Sym(1))));
  }
  const bool given = !scale.is_none() && scale.to_double() > 0;
  if (given) return b.constant(1.0 / scale.to_double(), x->type.dtype);
  return b.div(number(in), number(out));
}

// The weighted inputs along one dimension of which a length is not known yet: a sum over the four
// inputs around each output.
Value* cubic_sum(Builder& b, Value* x, size_t d, const Argument& scale) {
  const auto dim = static_cast<int64_t>(2 + d);
  const Sym in = dim_of(x, dim), out = b.out_type().sizes.at(2 + d);
  Value* step = step_value(b, x, d, scale);
  Value* place = b.cast(b.arange(0, out), x->type.dtype);
  place = b.arg("align_corners").to_bool() ? b.mul(place, step)
                                           : b.sub(b.mul(b.add(place, 0.5), step), 0.5);
  Value* floor = b.op("floor", {place});
  Value* before = b.sub(place, floor);
  Value* after = b.op("rsub.Scalar", {before, 1.0});
  const auto tap = [&](int64_t offset, Value* weight) {
    Value* from = b.add(b.cast(floor, ScalarType::kLong), offset);
    from = b.op("clamp", {from, 0, b.size(in - Sym(1))});
    return b.mul(b.op("index_select", {x, dim, from}), d == 0 ? b.unsqueeze(weight, 1) : weight);
  };
  const auto near = [&](Value* distance) { return cubic(b, distance, true, -0.75); };
  const auto far = [&](Value* distance) { return cubic(b, b.add(distance, 1.0), false, -0.75); };
  return b.add(b.add(tap(0, near(before)), tap(1, near(after))),
               b.add(tap(-1, far(before)), tap(2, far(after))));
}

// The same with antialiasing: a product with a matrix of weights, as for lengths that are known.
Value* smooth_product(Builder& b, Value* x, size_t d, const Argument& scale) {
  const Sym in = dim_of(x, static_cast<int64_t>(2 + d)), out = b.out_type().sizes.at(2 + d);
  const auto centres = [&](const Sym& size) {
    return b.add(b.cast(b.arange(0, size), x->type.dtype), 0.5);
  };
  Value* step = step_value(b, x, d, scale);
  Value* gap = b.sub(centres(in), b.unsqueeze(b.mul(centres(out), step), 1));
  Value* distance = b.op("abs", {b.div(gap, b.op("clamp", {step, 1.0, Argument()}))});
  // At 1 and 2, where the other polynomial begins or the kernel ends, both are exactly zero.
  const auto part = [&](bool near) {
    const double first = near ? 0.0 : 1.0;
    return cubic(b, b.op("clamp", {distance, first, first + 1.0}), near, -0.5);
  };
  Value* weights = b.add(part(true), part(false));
  weights = b.div(weights, b.sum(weights, {1}, true));
  return d == 0 ? b.op("matmul", {weights, x}) : b.op("matmul", {x, b.transpose(weights, 0, 1)});
}

void bicubic2d(Builder& b) {
  Value* x = b.args()[0].value();
  const bool smooth = b.node().target().find("_aa") != std::string_view::npos;
  const auto open = [&](int64_t dim) {
    return !dim_of(x, dim).is_int() || !b.out_type().sizes.at(static_cast<size_t>(dim)).is_int();
  };
  if (is_floating(x->type.dtype) && (open(2) || open(3))) {
    const auto along = smooth ? smooth_product : cubic_sum;
    return b.result(along(b, along(b, x, 1, factor_of(b, 1, 2)), 0, factor_of(b, 0, 2)));
  }
  const bool bytes = !is_floating(x->type.dtype);
  if (bytes) x = b.cast(x, ScalarType::kDouble);  // It holds the sums exactly.
  const auto whole = [&](Value* y) {
    return bytes ? b.op("clamp", {b.op("floor", {b.add(y, 0.5)}), 0, 255}) : y;
  };
  // Bytes are not resampled along a dimension that keeps its size.
  const auto keeps = [&](size_t d) {
    return bytes && dim_of(x, 2 + d) == b.out_type().sizes[2 + d];
  };
  if (!keeps(1)) {
    Value* columns = cubic_matrix(b, x, 1, factor_of(b, 1, 2));
    x = whole(b.op("matmul", {x, b.transpose(columns, 0, 1)}));
  }
  if (!keeps(0)) x = whole(b.op("matmul", {cubic_matrix(b, x, 0, factor_of(b, 0, 2)), x}));
  b.result(x);
}

void bilinear2d_smooth(Builder& b) {
  const Sizes& out = b.out_type().sizes;
  b.result(b.rewriter().emit("aten::_upsample_bilinear2d_aa",
                             {b.in("input"), b.size_list({out[2], out[3]}), b.arg("align_corners"),
                              factor_of(b, 0, 2), factor_of(b, 1, 2)},
                             {b.out_type()})[0]);
}

// ---- grids ----

// n coordinates from -1 to 1; without aligned corners, the centres of n cells.
std::vector<double> places(int64_t n, bool align_corners) {
  std::vector<double> out(static_cast<size_t>(n), 0.0);
  for (int64_t i = 0; i < n; ++i) {
    const double d = static_cast<double>(i), last = static_cast<double>(n);
    if (n > 1 || !align_corners) {
      out[static_cast<size_t>(i)] = align_corners ? 2 * d / (last - 1) - 1 : (2 * d + 1) / last - 1;
    }
  }
  return out;
}

// grid[n] = base x theta[n]^T, with base rows (x, y, 1) or (x, y, z, 1).
void affine_grid(Builder& b) {
  const bool align = b.arg("align_corners").to_bool();
  const Sizes size = to_syms(b.arg("size"));
  const size_t spatial = size.size() - 2;
  std::vector<std::vector<double>> axis;
  int64_t count = 1;
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t n = known(size[2 + i], b.node());
    if (n < 1 || n > kMostWeights / count) throw Failure("an affine grid of more than 16M points");
    count *= n;
    axis.push_back(places(n, align));
  }
  std::vector<float> base;
  for (int64_t at = 0; at < count; ++at) {
    int64_t rest = at;
    for (size_t i = spatial; i-- > 0;) {
      const auto n = static_cast<int64_t>(axis[i].size());
      base.push_back(static_cast<float>(axis[i][static_cast<size_t>(rest % n)]));
      rest /= n;
    }
    base.push_back(1);
  }
  Value* theta = b.in("theta");
  Value* points = b.cast(
      constant(b, base, ScalarType::kFloat, {Sym(count), Sym(static_cast<int64_t>(spatial) + 1)}),
      theta->type.dtype);
  b.result(b.view(b.op("matmul", {points, b.transpose(theta, 1, 2)}), b.out_type().sizes));
}

void grid_sampler(Builder& b) {
  const bool volume = b.in("input")->type.rank() == 5;
  b.result(b.rewriter().emit(volume ? "aten::grid_sampler_3d" : "aten::grid_sampler_2d",
                             b.node().args, {b.out_type()})[0]);
}

// ---- windows as columns ----

struct Windows {
  int64_t height, width;              // The sizes of the padded image.
  std::vector<int64_t> padding;       // Above and below, left and right.
  std::vector<int64_t> places;        // Flat indices in the padded image, [elements, windows].
  int64_t elements = 1, windows = 1;  // Elements per window, and the number of windows.
};

Windows windows_of(Builder& b, int64_t height, int64_t width) {
  const std::vector<int64_t> kernel = to_ints(b.arg("kernel_size")),
                             dilation = to_ints(b.arg("dilation")),
                             stride = to_ints(b.arg("stride"));
  Windows w{height, width, to_ints(b.arg("padding")), {}};
  const auto at = [](const std::vector<int64_t>& list, size_t i) {
    return list.at(list.size() == 1 ? 0 : i);
  };
  w.padding = {at(w.padding, 0), at(w.padding, 1)};
  w.height += 2 * w.padding[0];
  w.width += 2 * w.padding[1];
  const int64_t extent[] = {w.height, w.width};
  int64_t count[2];
  for (size_t i = 0; i < 2; ++i) {
    count[i] =
        window_length(Sym(extent[i]), at(kernel, i), at(stride, i), 0, at(dilation, i), false)
            .as_int();
    w.elements *= at(kernel, i);
    w.windows *= std::max<int64_t>(count[i], 0);
  }
  if (w.windows < 1 || w.elements > kMostWeights / w.windows) {
    throw Failure("windows of more than 16M elements, or none");
  }
  for (int64_t ky = 0; ky < at(kernel, 0); ++ky) {
    for (int64_t kx = 0; kx < at(kernel, 1); ++kx) {
      for (int64_t y = 0; y < count[0]; ++y) {
        for (int64_t x = 0; x < count[1]; ++x) {
          w.places.push_back((y * at(stride, 0) + ky * at(dilation, 0)) * w.width +
                             x * at(stride, 1) + kx * at(dilation, 1));
        }
      }
    }
  }
  return w;
}

// [N, C, H, W] -> [N, C kh kw, L]: selects each window's rows, then its columns.
void im2col(Builder& b) {
  Value* x = b.in("self");
  const auto entry = [&](const char* name, size_t i) {
    const std::vector<int64_t> list = to_ints(b.arg(name));
    return list.at(list.size() == 1 ? 0 : i);
  };
  const int64_t ph = entry("padding", 0), pw = entry("padding", 1);
  if (ph != 0 || pw != 0) x = b.op("constant_pad_nd", {x, int_list({pw, pw, ph, ph}), 0.0});
  const size_t lead = x->type.rank() - 2;
  Sizes pieces(x->type.sizes.begin(), x->type.sizes.begin() + static_cast<int64_t>(lead));
  for (size_t i = 0; i < 2; ++i) {
    const auto dim = static_cast<int64_t>(lead + i);
    const int64_t kernel = entry("kernel_size", i), stride = entry("stride", i);
    const int64_t dilation = entry("dilation", i);
    const Sym count = window_length(dim_of(x, dim), kernel, stride, 0, dilation, false);
    if (count.is_int() && count.as_int() < 1) throw Failure("no window fits into the image");
    Value* inside = b.unsqueeze(b.mul(b.arange(0, kernel), dilation), 1);
    Value* places = b.add(inside, b.mul(b.arange(0, count), stride));
    x = b.op("index_select", {x, dim, b.view(places, {Sym(kernel) * count})});
    pieces.push_back(kernel);
    pieces.push_back(count);
  }
  std::vector<int64_t> order;
  for (size_t d = 0; d < lead; ++d) order.push_back(static_cast<int64_t>(d));
  for (const size_t d : {0u, 2u, 1u, 3u}) order.push_back(static_cast<int64_t>(lead + d));
  b.result(b.view(b.permute(b.view(x, pieces), order), b.out_type().sizes));
}

// [N, C kh kw, L] -> [N, C, H, W]: the reverse, adding where windows overlap.
void col2im(Builder& b) {
  const std::vector<int64_t> size = to_ints(b.arg("output_size"));
  const Windows w = windows_of(b, size.at(0), size.at(1));
  const Sizes out = b.out_type().sizes;
  Value* x = b.in("self");
  const Sym lead = product(out, 0, out.size() - 2);
  Value* index = constant(b, w.places, ScalarType::kLong, {Sym(w.elements * w.windows)});
  Value* start = b.full({lead, Sym(w.height * w.width)}, 0.0, x->type.dtype);
  Value* columns = b.view(x, {lead, Sym(w.elements * w.windows)});
  Value* sum = b.op("index_put", {start, Argument::List{Argument(), index}, columns, true});
  Value* image = b.view(sum, {lead, Sym(w.height), Sym(w.width)});
  image = b.slice(image, 1, w.padding[0], w.height - w.padding[0]);
  image = b.slice(image, 2, w.padding[1], w.width - w.padding[1]);
  b.result(b.view(image, out));
}

}  // namespace

const Decompositions& resample_rules() {
  static const Decompositions table = {
      {"upsample_nearest3d", nearest3d},
      {"upsample_nearest3d.vec", nearest3d},
      {"upsample_trilinear3d", trilinear3d, kWide},
      {"upsample_trilinear3d.vec", trilinear3d, kWide},
      {"upsample_bicubic2d", bicubic2d, kWide},
      {"upsample_bicubic2d.vec", bicubic2d, kWide},
      {"_upsample_bicubic2d_aa", bicubic2d, kWide},
      {"_upsample_bicubic2d_aa.vec", bicubic2d, kWide},
      {"_upsample_bilinear2d_aa.vec", bilinear2d_smooth},
      {"_upsample_nearest_exact1d.vec", nearest_exact},
      {"_upsample_nearest_exact2d", nearest_exact},
      {"_upsample_nearest_exact2d.vec", nearest_exact},
      {"_upsample_nearest_exact3d.vec", nearest_exact},
      {"affine_grid_generator", affine_grid, kWide},
      {"grid_sampler", grid_sampler},
      {"im2col", im2col},
      {"col2im", col2im},
  };
  return table;
}

}  // namespace taper::exir
