// Fourier transforms as products with constant matrices of cosines and sines, one dimension at a
// time, and the short-time transform as such a product over windows of a signal.

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

// entry(i, o) for each of `in` rows and `out` columns, in the precision of `like`.
template <typename Entry>
Value* matrix(Builder& b, int64_t in, int64_t out, const Value* like, const Entry& entry) {
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
  return b.cast(table, like->type.dtype);
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

// The scale of a transform of n samples. `norm` is "backward", "ortho" or "forward";
// `normalization` is 0 for none, 1 for 1 / sqrt(n), 2 for 1 / n.
double scale_of(Builder& b, int64_t n, bool inverse) {
  const double count = static_cast<double>(n);
  if (b.knows("normalization")) {
    const int64_t how = b.arg("normalization").to_int();
    return how == 0 ? 1 : how == 1 ? 1 / std::sqrt(count) : 1 / count;
  }
  std::string norm = "backward";
  if (b.knows("norm") && b.has("norm")) norm = b.arg("norm").text();
  if (norm == "ortho") return 1 / std::sqrt(count);
  return (norm == "forward") != inverse ? 1 / count : 1;
}

// Crops the last dimension to `n` entries, or pads it with zeros.
Value* fit(Builder& b, Value* x, int64_t n) {
  const int64_t have = known(b, dim_of(x, -1));
  if (have > n) return b.slice(x, -1, 0, n);
  return have == n ? x : b.op("constant_pad_nd", {x, int_list({0, n - have}), 0.0});
}

Parts each(const Parts& z, const std::function<Value*(Value*)>& change) {
  return {change(z.re), z.im != nullptr ? change(z.im) : nullptr};
}

// Transforms the last dimension, padded or cropped to n, to the first `out` of n frequencies.
Parts transform(Builder& b, Parts z, int64_t n, int64_t out, bool inverse) {
  z = each(z, [&](Value* x) { return fit(b, x, n); });
  const double scale = scale_of(b, n, inverse), sign = inverse ? 1 : -1;
  Value* cosines = matrix(b, n, out, z.re,
                          [&](int64_t i, int64_t o) { return scale * std::cos(angle(i, o, n)); });
  Value* sines =
      matrix(b, n, out, z.re, [&](int64_t i, int64_t o) { return sine(i, o, n, sign * scale); });
  const auto times = [&](Value* x, Value* y) { return b.op("matmul", {x, y}); };
  Parts y = {times(z.re, cosines), times(z.re, sines)};
  if (z.im == nullptr) return y;
  return {b.sub(y.re, times(z.im, sines)), b.add(y.im, times(z.im, cosines))};
}

// Transforms the first n / 2 + 1 frequencies of a real signal back to its n samples. The other
// frequencies mirror them; the imaginary parts of the first and the middle one are ignored.
Value* to_signal(Builder& b, const Parts& half, int64_t n, bool inverse) {
  const int64_t in = n / 2 + 1;
  const double scale = scale_of(b, n, inverse), sign = inverse ? -1 : 1;
  const auto weight = [&](int64_t i) { return i == 0 || 2 * i == n ? scale : 2 * scale; };
  const Parts z = each(half, [&](Value* x) { return fit(b, x, in); });
  Value* cosines = matrix(
      b, in, n, z.re, [&](int64_t i, int64_t o) { return weight(i) * std::cos(angle(i, o, n)); });
  Value* sines = matrix(b, in, n, z.re, [&](int64_t i, int64_t o) {
    return i == 0 || 2 * i == n ? 0 : sine(i, o, n, sign * weight(i));
  });
  Value* re = b.op("matmul", {z.re, cosines});
  return z.im == nullptr ? re : b.add(re, b.op("matmul", {z.im, sines}));
}

// Applies `change` with `dim` transposed to the last dimension.
Parts along(Builder& b, const Parts& z, int64_t dim, const std::function<Parts(Parts)>& change) {
  const auto swapped = [&](const Parts& p) {
    return each(p, [&](Value* x) { return b.transpose(x, dim, -1); });
  };
  return swapped(change(swapped(z)));
}

// The dimensions of a call and the sizes that it asks for; 0 keeps the size.
struct Axes {
  std::vector<int64_t> dims, sizes;
};

std::vector<int64_t> ints_or_none(Builder& b, const char* name) {
  if (!b.knows(name) || !b.has(name)) return {};
  const Argument& arg = b.arg(name);
  return arg.is_list() ? to_ints(arg) : std::vector<int64_t>{arg.to_int()};
}

Axes axes_of(Builder& b) {
  const int64_t rank = complex_rank(self(b));
  Axes axes{ints_or_none(b, "dim"), ints_or_none(b, "s")};
  if (axes.sizes.empty()) axes.sizes = ints_or_none(b, "n");
  if (axes.dims.empty()) {  // All, or the last ones if sizes are given.
    const auto count = axes.sizes.empty() ? rank : static_cast<int64_t>(axes.sizes.size());
    for (int64_t d = rank - count; d < rank; ++d) axes.dims.push_back(d);
  }
  for (int64_t& d : axes.dims) d = wrap_dim(d, rank);
  if (axes.dims.empty()) throw Failure("a transform over no dimensions");
  axes.sizes.resize(axes.dims.size(), 0);
  for (int64_t& n : axes.sizes) n = n > 0 ? n : 0;
  if (b.knows("last_dim_size")) axes.sizes.back() = b.arg("last_dim_size").to_int();
  return axes;
}

// The operand in the precision of the result; a real operand may have integers.
Parts operand(Builder& b) {
  return each(parts_of(b, self(b)), [&](Value* x) { return b.cast(x, b.out_type().dtype); });
}

Parts complex_axis(Builder& b, const Parts& z, int64_t dim, int64_t size, bool inverse) {
  return along(b, z, dim, [&](Parts p) {
    const int64_t n = size != 0 ? size : known(b, dim_of(p.re, -1));
    return transform(b, p, n, n, inverse);
  });
}

void give_pairs(Builder& b, const Parts& z) { b.result(pack(b, z.re, z.im)); }

void complex_to_complex(Builder& b, bool inverse) {
  const Axes axes = axes_of(b);
  Parts z = operand(b);
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
  Parts z = along(b, operand(b), axes.dims.back(), [&](Parts p) {
    const int64_t n = axes.sizes.back() != 0 ? axes.sizes.back() : known(b, dim_of(p.re, -1));
    return transform(b, p, n, half ? n / 2 + 1 : n, inverse);
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
  Parts z = operand(b);
  for (size_t i = 0; i + 1 < axes.dims.size(); ++i) {
    z = complex_axis(b, z, axes.dims[i], axes.sizes[i], inverse);
  }
  z = along(b, z, axes.dims.back(), [&](Parts p) -> Parts {
    const int64_t have = known(b, dim_of(p.re, -1));
    const int64_t n = axes.sizes.back() != 0 ? axes.sizes.back() : 2 * (have - 1);
    return {to_signal(b, p, known(b, n), inverse), nullptr};
  });
  b.result(z.re);
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

// [..., L] -> [..., frequencies, frames]
void stft(Builder& b) {
  Value* x = self(b);
  if (x->type.pairs) throw Failure("stft of a complex signal");
  const int64_t frame = b.arg("n_fft").to_int();
  const int64_t hop = b.has("hop_length") ? b.arg("hop_length").to_int() : frame / 4;
  if (b.node().schema->find("center") >= 0 && b.arg("center").to_bool()) {
    x = centred(b, x, frame / 2);
  }
  const int64_t length = known(b, dim_of(x, -1));
  if (frame < 1 || hop < 1 || length < frame) throw Failure("stft of frames beyond the signal");
  std::vector<Sym> sizes = x->type.sizes;
  sizes.back() = (length - frame) / hop + 1;
  sizes.push_back(frame);
  Value* frames =
      b.rewriter().emit("aten::unfold", {x, -1, frame, hop}, {TensorType(x->type.dtype, sizes)})[0];
  if (Value* window = window_of(b, frame, x->type.dtype)) frames = b.mul(frames, window);
  const bool half = !b.has("onesided") || b.arg("onesided").to_bool();
  Parts z = transform(b, {frames, nullptr}, frame, half ? frame / 2 + 1 : frame, false);
  z = each(z, [&](Value* part) { return b.transpose(part, -1, -2); });
  Value* out = pack(b, z.re, z.im);
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
  return b.slice(fit(b, x, std::max(end, dim_of(x, -1).as_int())), -1, start, end);
}

// Transforms each frame back, applies the window again, adds the frames up, and divides by the sum
// of the squared windows.
void istft(Builder& b) {
  const int64_t frame = b.arg("n_fft").to_int();
  const int64_t hop = b.has("hop_length") ? b.arg("hop_length").to_int() : frame / 4;
  if (b.arg("return_complex").to_bool()) throw Failure("istft to a complex signal");
  if (frame < 1 || hop < 1) throw Failure("istft of empty frames");
  Parts z = parts_of(b, self(b));
  const int64_t have = known(b, dim_of(z.re, -2)), count = known(b, dim_of(z.re, -1));
  if (count > kMostEntries / frame) throw Failure("istft of " + std::to_string(count) + " frames");
  const bool half = b.has("onesided") ? b.arg("onesided").to_bool() : have != frame;
  z = each(z, [&](Value* part) { return b.transpose(part, -1, -2); });
  Value* frames = half ? to_signal(b, z, frame, true) : transform(b, z, frame, frame, true).re;
  if (b.arg("normalized").to_bool()) frames = b.mul(frames, std::sqrt(static_cast<double>(frame)));
  Value* window = window_of(b, frame, frames->type.dtype);
  if (window == nullptr) window = b.full({Sym(frame)}, 1.0, frames->type.dtype);
  Value* sum = overlap_add(b, b.mul(frames, window), hop);
  Value* weight = overlap_add(b, b.expand(b.mul(window, window), {Sym(count), Sym(frame)}), hop);
  const int64_t start = b.arg("center").to_bool() ? frame / 2 : 0;
  const int64_t length = known(b, dim_of(b.node().outputs[0], -1));
  const int64_t end = std::min(start + length, known(b, dim_of(sum, -1)));
  Value* y = b.div(between(b, sum, start, end), between(b, weight, start, end));
  b.result(b.view(fit(b, y, length), b.out_type().sizes));
}

}  // namespace

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
