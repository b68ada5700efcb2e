// Fourier transforms, one dimension at a time: of few samples as products with constant matrices of
// cosines and sines, which backends take, of more as operators of this runtime that are given a
// table of roots of unity; and the short-time transform as such a one over windows of a signal.

#include <cmath>
#include <functional>

#include "exir/decompose/complex.h"
#include "exir/ops/infer.h"

namespace taper::exir {
namespace {

constexpr int64_t kMostEntries = int64_t{1} << 24;
constexpr double kTwoPi = 6.283185307179586476925286766559;

Value* self(Builder& b) { return b.node().args.at(0).value(); }

int64_t complex_rank(const Value* x) {
  return static_cast<int64_t>(x->type.rank()) - (x->type.pairs ? 1 : 0);
}

int64_t known(Builder& b, const Sym& size) {
  if (size.is_int() && size.as_int() > 0) return size.as_int();
  throw Failure(std::string(b.node().target()) + " over the size " + size.text());
}

// entry(i, o) for each of `in` rows and `out` columns.
template <typename Entry>
Value* matrix(Builder& b, int64_t in, int64_t out, ScalarType dtype, const Entry& entry) {
  if (in > kMostEntries / out) {
    throw Failure("a Fourier transform of " + std::to_string(in) + " samples");
  }
  std::vector<double> data;
  data.reserve(static_cast<size_t>(in * out));
  for (int64_t i = 0; i < in; ++i) {
    for (int64_t o = 0; o < out; ++o) data.push_back(entry(i, o));
  }
  const auto* bytes = reinterpret_cast<const uint8_t*>(data.data());
  std::vector<uint8_t> copy(bytes, bytes + data.size() * sizeof(double));
  Value* table = b.rewriter().graph().new_constant(
      "turns", TensorType(ScalarType::kDouble, {Sym(in), Sym(out)}), own_bytes(std::move(copy)));
  return b.cast(table, dtype);
}

// The angle 2 pi i o / n; the product is reduced modulo n first, so that it stays exact.
double angle(int64_t i, int64_t o, int64_t n) {
  return kTwoPi * static_cast<double>((i * o) % n) / static_cast<double>(n);
}

// Its sine times a factor. Multiples of pi give exactly 0.0, never -0.0: the sign of a zero
// imaginary part decides whether an angle is pi or -pi.
double sine(int64_t i, int64_t o, int64_t n, double factor) {
  return 2 * ((i * o) % n) % n == 0 ? 0.0 : factor * std::sin(angle(i, o, n));
}

// Its cosine, which is exactly 0.0 where C libraries give different numbers near 0.
double cosine(int64_t i, int64_t o, int64_t n) {
  const int64_t quarters = 4 * ((i * o) % n);
  return quarters % n == 0 && quarters / n % 2 == 1 ? 0.0 : std::cos(angle(i, o, n));
}

// What a transform is multiplied by: 0 stands for 1, 1 for 1 / sqrt(n), 2 for 1 / n. `norm` is
// "backward", "ortho" or "forward".
int64_t normalization_of(Builder& b, bool inverse) {
  if (b.knows("normalization")) return b.arg("normalization").to_int();
  std::string norm = "backward";
  if (b.knows("norm") && b.has("norm")) norm = b.arg("norm").text();
  if (norm == "ortho") return 1;
  return (norm == "forward") != inverse ? 2 : 0;
}

// The same for n samples: a number that the transform takes, or, for a symbolic n, a tensor that
// its result is multiplied by.
struct Scale {
  double number = 1;
  Value* tensor = nullptr;

  Scale(Builder& b, const Sym& n, bool inverse, ScalarType dtype) {
    const int64_t how = normalization_of(b, inverse);
    if (how == 0) return;
    if (n.is_int()) {
      const double count = static_cast<double>(known(b, n));
      number = 1 / (how == 1 ? std::sqrt(count) : count);
    } else {
      Value* count = b.op("scalar_tensor", {b.size(n), dtype});
      tensor = b.op("reciprocal", {how == 1 ? b.op("sqrt", {count}) : count});
    }
  }
  Value* finish(Builder& b, Value* x) const { return tensor == nullptr ? x : b.mul(x, tensor); }
};

// A signal or a spectrum: in parts, of which the imaginary one is null if it is real, or in pairs.
struct Wave {
  Parts parts;
  Value* pairs = nullptr;

  bool is_real() const { return pairs == nullptr && parts.im == nullptr; }
  const Value* any() const { return pairs != nullptr ? pairs : parts.re; }
};

Value* as_pairs(Value* x) {
  x->type.pairs = true;
  return x;
}

// REQUIRES: it is complex.
Value* pairs_of(Builder& b, const Wave& z) {
  return z.pairs != nullptr ? z.pairs : pack(b, z.parts.re, z.parts.im);
}
Parts parts_of(Builder& b, const Wave& z) {
  return z.pairs == nullptr ? z.parts : parts_of(b, z.pairs);
}

// Applies a change that is the same for pairs, whose last dimension it does not touch.
Wave each(const Wave& z, const std::function<Value*(Value*)>& change) {
  if (z.pairs != nullptr) return {{}, as_pairs(change(z.pairs))};
  return {{change(z.parts.re), z.parts.im != nullptr ? change(z.parts.im) : nullptr}};
}

// The last dimension of the signal, pairs aside.
int64_t last_dim(const Wave& z) {
  return static_cast<int64_t>(z.any()->type.rank()) - (z.pairs != nullptr ? 2 : 1);
}

// Crops dimension `dim` to `n` entries, or pads it with zeros.
Value* fit(Builder& b, Value* x, int64_t dim, const Sym& n) {
  if (dim_of(x, dim) == n) return x;
  const int64_t have = known(b, dim_of(x, dim)), want = known(b, n);
  if (have > want) return b.slice(x, dim, 0, want);
  std::vector<int64_t> padding(2 * (x->type.rank() - static_cast<size_t>(dim)), 0);
  padding.back() = want - have;
  return b.op("constant_pad_nd", {x, int_list(padding), 0.0});
}
Wave fit(Builder& b, const Wave& z, const Sym& n) {
  return each(z, [&](Value* x) { return fit(b, x, last_dim(z), n); });
}

Sym half_of(const Sym& n) { return floor_div(n, Sym(2)) + Sym(1); }

// Above so many samples the steps of a fast transform are fewer than those of a product.
constexpr int64_t kLargestProduct = 64;

bool is_product(const Wave& z, const Sym& n) {
  const ScalarType dtype = z.any()->type.dtype;
  const bool has_kernel = dtype == ScalarType::kFloat || dtype == ScalarType::kDouble;
  return !has_kernel || (n.is_int() && n.as_int() <= kLargestProduct);
}

// e^(2 pi i k / n) for all k, as pairs.
Value* turns_of(Builder& b, const Sym& n, ScalarType dtype) {
  if (n.is_int()) {
    const int64_t count = known(b, n);
    return matrix(b, count, 2, dtype, [&](int64_t k, int64_t part) {
      return part == 0 ? cosine(k, 1, count) : sine(k, 1, count, 1);
    });
  }
  Value* count = b.op("scalar_tensor", {b.size(n), ScalarType::kDouble});
  Value* angles = b.mul(b.div(b.arange(0, n, ScalarType::kDouble), count), kTwoPi);
  return b.cast(pack(b, b.op("cos", {angles}), b.op("sin", {angles})), dtype);
}

Value* conjugate(Builder& b, Value* pairs) {
  return as_pairs(b.mul(pairs, matrix(b, 1, 2, pairs->type.dtype, [](int64_t, int64_t part) {
                          return part == 0 ? 1.0 : -1.0;
                        })));
}

// The first `out` of n frequencies of the last dimension, which has n samples.
Parts transform_by_product(Builder& b, const Parts& z, int64_t n, int64_t out, bool inverse,
                           double scale) {
  const double sign = inverse ? 1 : -1;
  const ScalarType dtype = z.re->type.dtype;
  Value* cosines =
      matrix(b, n, out, dtype, [&](int64_t i, int64_t o) { return scale * cosine(i, o, n); });
  Value* sines =
      matrix(b, n, out, dtype, [&](int64_t i, int64_t o) { return sine(i, o, n, sign * scale); });
  const auto times = [&](Value* x, Value* y) { return b.op("matmul", {x, y}); };
  Parts y = {times(z.re, cosines), times(z.re, sines)};
  if (z.im == nullptr) return y;
  return {b.sub(y.re, times(z.im, sines)), b.add(y.im, times(z.im, cosines))};
}

// Transforms the last dimension, padded or cropped to n, to n frequencies, or, if the signal is
// real and the result is `onesided`, to the first n / 2 + 1 of them.
Wave transform(Builder& b, Wave z, const Sym& n, bool onesided, bool inverse) {
  z = fit(b, z, n);
  const ScalarType dtype = z.any()->type.dtype;
  const Scale scale(b, n, inverse, dtype);
  if (is_product(z, n)) {
    const int64_t count = known(b, n), out = onesided ? count / 2 + 1 : count;
    return {transform_by_product(b, parts_of(b, z), count, out, inverse, scale.number)};
  }
  Value* turns = turns_of(b, n, dtype);
  Value* out = nullptr;
  if (z.is_real()) {
    out = as_pairs(b.op("taper::fft_r2c", {z.parts.re, turns, onesided, scale.number}));
    if (inverse) out = conjugate(b, out);
  } else {
    out = b.op("taper::fft_c2c", {pairs_of(b, z), turns, !inverse, scale.number});
  }
  return {{}, as_pairs(scale.finish(b, out))};
}

// The n samples of the real signal whose first n / 2 + 1 frequencies are given. The others mirror
// them; the imaginary parts of the first and the middle one are ignored.
Value* to_signal_by_product(Builder& b, const Parts& z, int64_t n, bool inverse, double scale) {
  const int64_t in = n / 2 + 1;
  const double sign = inverse ? -1 : 1;
  const ScalarType dtype = z.re->type.dtype;
  const auto weight = [&](int64_t i) { return i == 0 || 2 * i == n ? scale : 2 * scale; };
  Value* cosines =
      matrix(b, in, n, dtype, [&](int64_t i, int64_t o) { return weight(i) * cosine(i, o, n); });
  Value* sines = matrix(b, in, n, dtype, [&](int64_t i, int64_t o) {
    return i == 0 || 2 * i == n ? 0 : sine(i, o, n, sign * weight(i));
  });
  Value* re = b.op("matmul", {z.re, cosines});
  return z.im == nullptr ? re : b.add(re, b.op("matmul", {z.im, sines}));
}

// The same, of as many frequencies as there are, in the last dimension.
Value* to_signal(Builder& b, const Wave& half, const Sym& n, bool inverse) {
  const Wave z = fit(b, half, half_of(n));
  const ScalarType dtype = z.any()->type.dtype;
  const Scale scale(b, n, inverse, dtype);
  if (is_product(z, n) || z.is_real()) {
    return to_signal_by_product(b, parts_of(b, z), known(b, n), inverse, scale.number);
  }
  Value* pairs = pairs_of(b, z);
  if (!inverse) pairs = conjugate(b, pairs);
  Value* turns = turns_of(b, n, dtype);
  return scale.finish(b, b.op("taper::fft_c2r", {pairs, turns, scale.number}));
}

// Applies `change` with `dim` transposed to the last dimension.
Wave along(Builder& b, const Wave& z, int64_t dim, const std::function<Wave(Wave)>& change) {
  const auto swapped = [&](const Wave& w) {
    return dim == last_dim(w) ? w
                              : each(w, [&](Value* x) { return b.transpose(x, dim, last_dim(w)); });
  };
  return swapped(change(swapped(z)));
}

// The dimensions of a call and the sizes that it asks for; 0 keeps the size.
struct Axes {
  std::vector<int64_t> dims;
  std::vector<Sym> sizes;
};

std::vector<Sym> syms_or_none(Builder& b, const char* name) {
  if (!b.knows(name) || !b.has(name)) return {};
  const Argument& arg = b.arg(name);
  return arg.is_list() ? to_syms(arg) : std::vector<Sym>{to_sym(arg)};
}

Axes axes_of(Builder& b) {
  const int64_t rank = complex_rank(self(b));
  Axes axes{{}, syms_or_none(b, "s")};
  for (const Sym& d : syms_or_none(b, "dim")) axes.dims.push_back(d.as_int());
  if (axes.sizes.empty()) axes.sizes = syms_or_none(b, "n");
  if (axes.dims.empty()) {  // All, or the last ones if sizes are given.
    const auto count = axes.sizes.empty() ? rank : static_cast<int64_t>(axes.sizes.size());
    for (int64_t d = rank - count; d < rank; ++d) axes.dims.push_back(d);
  }
  for (int64_t& d : axes.dims) d = wrap_dim(d, rank);
  if (axes.dims.empty()) throw Failure("a transform over no dimensions");
  axes.sizes.resize(axes.dims.size(), Sym(0));
  for (Sym& n : axes.sizes) n = n.is_int() && n.as_int() < 0 ? Sym(0) : n;
  if (b.knows("last_dim_size")) axes.sizes.back() = to_sym(b.arg("last_dim_size"));
  return axes;
}

// The operand in the precision of the result; a real operand may have integers.
Wave operand(Builder& b) {
  Value* x = b.cast(self(b), b.out_type().dtype);
  return self(b)->type.pairs ? Wave{{}, as_pairs(x)} : Wave{{x, nullptr}};
}

Wave complex_axis(Builder& b, const Wave& z, int64_t dim, const Sym& size, bool inverse) {
  return along(b, z, dim, [&](const Wave& line) {
    const Sym n = size == Sym(0) ? dim_of(line.any(), last_dim(line)) : size;
    return transform(b, line, n, false, inverse);
  });
}

void give_pairs(Builder& b, const Wave& z) { b.result(pairs_of(b, z)); }

void complex_to_complex(Builder& b, bool inverse) {
  const Axes axes = axes_of(b);
  Wave z = operand(b);
  for (size_t i = axes.dims.size(); i-- > 0;) {
    z = complex_axis(b, z, axes.dims[i], axes.sizes[i], inverse);
  }
  give_pairs(b, z);
}
void fft(Builder& b) { complex_to_complex(b, false); }
void ifft(Builder& b) { complex_to_complex(b, true); }
void fft_c2c(Builder& b) { complex_to_complex(b, !b.arg("forward").to_bool()); }

// The last dimension gives half of the spectrum; the others are transformed after it.
void real_to_complex(Builder& b, bool inverse) {
  const Axes axes = axes_of(b);
  const bool half = !b.knows("onesided") || b.arg("onesided").to_bool();
  Wave z = along(b, operand(b), axes.dims.back(), [&](const Wave& line) {
    const Sym have = dim_of(line.any(), last_dim(line)), asked = axes.sizes.back();
    return transform(b, line, asked == Sym(0) ? have : asked, half, inverse);
  });
  for (size_t i = axes.dims.size() - 1; i-- > 0;) {
    z = complex_axis(b, z, axes.dims[i], axes.sizes[i], inverse);
  }
  give_pairs(b, z);
}
void rfft(Builder& b) { real_to_complex(b, false); }
void ihfft(Builder& b) { real_to_complex(b, true); }

void complex_to_real(Builder& b, bool inverse) {
  const Axes axes = axes_of(b);
  Wave z = operand(b);
  for (size_t i = 0; i + 1 < axes.dims.size(); ++i) {
    z = complex_axis(b, z, axes.dims[i], axes.sizes[i], inverse);
  }
  z = along(b, z, axes.dims.back(), [&](const Wave& line) -> Wave {
    const Sym have = dim_of(line.any(), last_dim(line)), asked = axes.sizes.back();
    const Sym n = asked == Sym(0) ? Sym(2) * (have - Sym(1)) : asked;
    return {{to_signal(b, line, n, inverse), nullptr}};
  });
  b.result(z.parts.re);
}
void irfft(Builder& b) { complex_to_real(b, true); }
void hfft(Builder& b) { complex_to_real(b, false); }

// ---- windows of a signal ----

// The window, padded with zeros on both sides to the length of a frame; ones if the call gives
// none. Null if it is all ones.
Value* window_of(Builder& b, int64_t frame, ScalarType dtype) {
  int64_t length = b.has("win_length") ? b.arg("win_length").to_int() : frame;
  Value* window = nullptr;
  if (b.has("window")) {
    window = b.in("window");
    length = known(b, dim_of(window, -1));
  } else if (length == frame) {
    return nullptr;
  } else {
    window = b.full({Sym(length)}, 1.0, dtype);
  }
  if (length == frame) return b.cast(window, dtype);
  const int64_t before = (frame - length) / 2;
  return b.cast(b.op("constant_pad_nd", {window, int_list({before, frame - length - before}), 0.0}),
                dtype);
}

Value* centred(Builder& b, Value* x, int64_t by) {
  const std::string& mode = b.arg("pad_mode").text();
  Value* line = x->type.rank() == 1 ? b.unsqueeze(x, 0) : x;
  std::vector<Sym> sizes = line->type.sizes;
  sizes.back() = sizes.back() + Sym(2 * by);
  Value* padded = b.rewriter().emit("aten::pad", {line, int_list({by, by}), mode, Argument()},
                                    {TensorType(x->type.dtype, sizes)})[0];
  return x->type.rank() == 1 ? b.squeeze(padded, 0) : padded;
}

// Frames and frequencies change places.
Wave swap_last(Builder& b, const Wave& z) {
  return each(z, [&](Value* x) { return b.transpose(x, last_dim(z) - 1, last_dim(z)); });
}

// [..., L] -> [..., frequencies, frames]
void stft(Builder& b) {
  Value* x = self(b);
  if (x->type.pairs) throw Failure("stft of a complex signal");
  const int64_t frame = b.arg("n_fft").to_int();
  const int64_t hop = b.has("hop_length") ? b.arg("hop_length").to_int() : frame / 4;
  if (b.node().schema->find("center") >= 0 && b.arg("center").to_bool()) {
    x = centred(b, x, frame / 2);
  }
  const Sym length = dim_of(x, -1);
  if (frame < 1 || hop < 1 || (length.is_int() && length.as_int() < frame)) {
    throw Failure("stft of frames beyond the signal");
  }
  std::vector<Sym> sizes = x->type.sizes;
  sizes.back() = floor_div(length - Sym(frame), Sym(hop)) + Sym(1);
  sizes.push_back(frame);
  Value* frames =
      b.rewriter().emit("aten::unfold", {x, -1, frame, hop}, {TensorType(x->type.dtype, sizes)})[0];
  if (Value* window = window_of(b, frame, x->type.dtype)) frames = b.mul(frames, window);
  const bool half = !b.has("onesided") || b.arg("onesided").to_bool();
  const Wave z = transform(b, {{frames, nullptr}}, frame, half, false);
  Value* out = pairs_of(b, swap_last(b, z));
  if (b.arg("normalized").to_bool()) {
    out = b.mul(out, 1 / std::sqrt(static_cast<double>(frame)));
  }
  out->type.pairs = b.out_type().pairs;
  b.result(out);
}

// Adds up the frames [..., frames, frame] at their positions, `hop` apart.
Value* overlap_add(Builder& b, Value* frames, int64_t hop) {
  const int64_t count = known(b, dim_of(frames, -2)), frame = known(b, dim_of(frames, -1));
  std::vector<int64_t> places;
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t k = 0; k < frame; ++k) places.push_back(i * hop + k);
  }
  Sym rows = 1;
  for (size_t d = 0; d + 2 < frames->type.rank(); ++d) rows = rows * frames->type.sizes[d];
  Value* line = b.full({rows, Sym(frame + hop * (count - 1))}, 0.0, frames->type.dtype);
  Value* values = b.view(frames, {rows, Sym(count * frame)});
  return b.op("index_put", {line, Argument::List{Argument(), b.numbers(places)}, values, true});
}

// x[..., start:end], padded with zeros if x is shorter.
Value* between(Builder& b, Value* x, int64_t start, int64_t end) {
  const auto last = static_cast<int64_t>(x->type.rank()) - 1;
  return b.slice(fit(b, x, last, std::max(end, dim_of(x, -1).as_int())), -1, start, end);
}

// Transforms each frame back, applies the window again, adds the frames up, and divides by the sum
// of the squared windows.
void istft(Builder& b) {
  const int64_t frame = b.arg("n_fft").to_int();
  const int64_t hop = b.has("hop_length") ? b.arg("hop_length").to_int() : frame / 4;
  if (b.arg("return_complex").to_bool()) throw Failure("istft to a complex signal");
  if (frame < 1 || hop < 1) throw Failure("istft of empty frames");
  Wave z = self(b)->type.pairs ? Wave{{}, self(b)} : Wave{{self(b), nullptr}};
  const int64_t last = last_dim(z);
  const int64_t have = known(b, dim_of(self(b), last - 1));
  const int64_t count = known(b, dim_of(self(b), last));
  if (count > kMostEntries / frame) throw Failure("istft of " + std::to_string(count) + " frames");
  const bool half = b.has("onesided") ? b.arg("onesided").to_bool() : have != frame;
  z = swap_last(b, z);
  if (!half) {  // Of both sides of the spectrum of a real signal the first says all.
    z = each(z, [&](Value* x) { return b.slice(x, last_dim(z), 0, frame / 2 + 1); });
  }
  Value* frames = to_signal(b, z, frame, true);
  if (b.arg("normalized").to_bool()) frames = b.mul(frames, std::sqrt(static_cast<double>(frame)));
  Value* window = window_of(b, frame, frames->type.dtype);
  if (window == nullptr) window = b.full({Sym(frame)}, 1.0, frames->type.dtype);
  Value* sum = overlap_add(b, b.mul(frames, window), hop);
  Value* weight = overlap_add(b, b.expand(b.mul(window, window), {Sym(count), Sym(frame)}), hop);
  const int64_t start = b.arg("center").to_bool() ? frame / 2 : 0;
  const int64_t length = known(b, dim_of(b.node().outputs[0], -1));
  const int64_t end = std::min(start + length, known(b, dim_of(sum, -1)));
  Value* y = b.div(between(b, sum, start, end), between(b, weight, start, end));
  const auto dim = static_cast<int64_t>(y->type.rank()) - 1;
  b.result(b.view(fit(b, y, dim, length), b.out_type().sizes));
}

// ---- the operators of this runtime, for one that lacks them ----

Parts pairs_in(Builder& b) {
  return {b.select(b.in("self"), -1, 0), b.select(b.in("self"), -1, 1)};
}

int64_t samples(Builder& b) { return known(b, dim_of(b.in("turns"), 0)); }

void give_parts(Builder& b, const Parts& z) {
  Value* out = pack(b, z.re, z.im);
  out->type.pairs = b.out_type().pairs;
  b.result(out);
}

void r2c_by_product(Builder& b) {
  const int64_t n = samples(b), out = b.arg("onesided").to_bool() ? n / 2 + 1 : n;
  const double scale = b.arg("scale").to_double();
  give_parts(b, transform_by_product(b, {b.in("self"), nullptr}, n, out, false, scale));
}
void c2c_by_product(Builder& b) {
  const int64_t n = samples(b);
  const bool inverse = !b.arg("forward").to_bool();
  give_parts(b, transform_by_product(b, pairs_in(b), n, n, inverse, b.arg("scale").to_double()));
}
void c2r_by_product(Builder& b) {
  b.result(to_signal_by_product(b, pairs_in(b), samples(b), true, b.arg("scale").to_double()));
}

}  // namespace

const Decompositions& fourier_product_rules() {
  static const Decompositions table = {
      {"taper::fft_r2c", r2c_by_product},
      {"taper::fft_c2c", c2c_by_product},
      {"taper::fft_c2r", c2r_by_product},
  };
  return table;
}

const Decompositions& fourier_rules() {
  static const Decompositions table = {
      {"fft_fft", fft},      {"fft_ifft", ifft},    {"fft_fft2", fft},     {"fft_ifft2", ifft},
      {"fft_fftn", fft},     {"fft_ifftn", ifft},   {"fft_rfft", rfft},    {"fft_rfft2", rfft},
      {"fft_rfftn", rfft},   {"fft_irfft", irfft},  {"fft_irfft2", irfft}, {"fft_irfftn", irfft},
      {"fft_hfft", hfft},    {"fft_hfft2", hfft},   {"fft_hfftn", hfft},   {"fft_ihfft", ihfft},
      {"fft_ihfft2", ihfft}, {"fft_ihfftn", ihfft}, {"_fft_c2c", fft_c2c}, {"_fft_r2c", rfft},
      {"_fft_c2r", irfft},   {"istft", istft},      {"stft", stft},        {"stft.center", stft},
  };
  return table;
}

bool is_fourier(std::string_view target) {
  for (const Decomposition& entry : fourier_rules()) {
    if (target.starts_with("aten::") && target.substr(6) == entry.target) return true;
  }
  return false;
}

}  // namespace taper::exir
