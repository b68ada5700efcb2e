// Fourier transforms as products with constant matrices of cosines and sines, one dimension at a
// time, and the short-time transform as one over windows of a signal.

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
    throw Failure("a Fourier transform of " + std::to_string(in) + " places");
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

// An angle of i * o of n parts of a turn; the product is reduced first, to stay exact.
double turn(int64_t i, int64_t o, int64_t n) {
  return kTwoPi * static_cast<double>((i * o) % n) / static_cast<double>(n);
}

// How a transform of n places is scaled: norm is "backward", "ortho" or "forward".
double scale_of(Builder& b, int64_t n, bool inverse) {
  std::string norm = "backward";
  if (b.node().schema->find("norm") >= 0 && b.has("norm")) norm = b.arg("norm").text();
  const double count = static_cast<double>(n);
  if (norm == "ortho") return 1 / std::sqrt(count);
  return (norm == "forward") != inverse ? 1 / count : 1;
}

// Cuts or fills with zeros, so that the last dimension has `n` entries.
Value* fit(Builder& b, Value* x, int64_t n) {
  const int64_t have = known(b, dim_of(x, -1));
  if (have > n) return b.slice(x, -1, 0, n);
  return have == n ? x : b.op("constant_pad_nd", {x, int_list({0, n - have}), 0.0});
}

Parts each(const Parts& z, const std::function<Value*(Value*)>& change) {
  return {change(z.re), z.im != nullptr ? change(z.im) : nullptr};
}

// Over the last dimension, to the first `out` frequencies of n.
Parts transform(Builder& b, Parts z, int64_t n, int64_t out, bool inverse) {
  z = each(z, [&](Value* x) { return fit(b, x, n); });
  const double scale = scale_of(b, n, inverse), sign = inverse ? 1 : -1;
  Value* cosines = matrix(b, n, out, z.re,
                          [&](int64_t i, int64_t o) { return scale * std::cos(turn(i, o, n)); });
  Value* sines = matrix(b, n, out, z.re, [&](int64_t i, int64_t o) {
    return sign * scale * std::sin(turn(i, o, n));
  });
  const auto times = [&](Value* x, Value* y) { return b.op("matmul", {x, y}); };
  Parts y = {times(z.re, cosines), times(z.re, sines)};
  if (z.im == nullptr) return y;
  return {b.sub(y.re, times(z.im, sines)), b.add(y.im, times(z.im, cosines))};
}

// From the first n / 2 + 1 frequencies of a real signal back to its n places. The others mirror
// them; the imaginary parts of the first and of the middle one do not count.
Value* to_signal(Builder& b, const Parts& half, int64_t n) {
  const int64_t in = n / 2 + 1;
  const double scale = scale_of(b, n, true);
  const auto weight = [&](int64_t i) { return i == 0 || 2 * i == n ? scale : 2 * scale; };
  const Parts z = each(half, [&](Value* x) { return fit(b, x, in); });
  Value* cosines = matrix(
      b, in, n, z.re, [&](int64_t i, int64_t o) { return weight(i) * std::cos(turn(i, o, n)); });
  Value* sines = matrix(b, in, n, z.re, [&](int64_t i, int64_t o) {
    return i == 0 || 2 * i == n ? 0 : weight(i) * std::sin(turn(i, o, n));
  });
  Value* re = b.op("matmul", {z.re, cosines});
  return z.im == nullptr ? re : b.sub(re, b.op("matmul", {z.im, sines}));
}

// `change` sees `dim` as the last dimension.
Parts along(Builder& b, const Parts& z, int64_t dim, const std::function<Parts(Parts)>& change) {
  const auto turned = [&](const Parts& p) {
    return each(p, [&](Value* x) { return b.transpose(x, dim, -1); });
  };
  return turned(change(turned(z)));
}

// The dimensions of a call and the sizes that it asks for; 0 where it keeps them.
struct Axes {
  std::vector<int64_t> dims, sizes;
};

std::vector<int64_t> ints_or_none(Builder& b, const char* name) {
  if (b.node().schema->find(name) < 0 || !b.has(name)) return {};
  const Argument& arg = b.arg(name);
  return arg.is_list() ? to_ints(arg) : std::vector<int64_t>{arg.to_int()};
}

Axes axes_of(Builder& b) {
  const int64_t rank = complex_rank(self(b));
  Axes axes{ints_or_none(b, "dim"), ints_or_none(b, "s")};
  if (axes.sizes.empty()) axes.sizes = ints_or_none(b, "n");
  if (axes.dims.empty()) {  // All, or as many of the last as sizes are given.
    const auto count = axes.sizes.empty() ? rank : static_cast<int64_t>(axes.sizes.size());
    for (int64_t d = rank - count; d < rank; ++d) axes.dims.push_back(d);
  }
  for (int64_t& d : axes.dims) d = wrap_dim(d, rank);
  axes.sizes.resize(axes.dims.size(), 0);
  for (int64_t& n : axes.sizes) n = n > 0 ? n : 0;
  return axes;
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
  Parts z = parts_of(b, self(b));
  for (size_t i = axes.dims.size(); i-- > 0;) {
    z = complex_axis(b, z, axes.dims[i], axes.sizes[i], inverse);
  }
  give_pairs(b, z);
}
void fft(Builder& b) { complex_to_complex(b, false); }
void ifft(Builder& b) { complex_to_complex(b, true); }

// The last dimension gives half a spectrum, the others follow.
void rfft(Builder& b) {
  const Axes axes = axes_of(b);
  Parts z = along(b, {self(b), nullptr}, axes.dims.back(), [&](Parts p) {
    const int64_t n = axes.sizes.back() != 0 ? axes.sizes.back() : known(b, dim_of(p.re, -1));
    return transform(b, p, n, n / 2 + 1, false);
  });
  for (size_t i = axes.dims.size() - 1; i-- > 0;) {
    z = complex_axis(b, z, axes.dims[i], axes.sizes[i], false);
  }
  give_pairs(b, z);
}

void irfft(Builder& b) {
  const Axes axes = axes_of(b);
  Parts z = parts_of(b, self(b));
  for (size_t i = 0; i + 1 < axes.dims.size(); ++i) {
    z = complex_axis(b, z, axes.dims[i], axes.sizes[i], true);
  }
  z = along(b, z, axes.dims.back(), [&](Parts p) -> Parts {
    const int64_t have = known(b, dim_of(p.re, -1));
    const int64_t n = axes.sizes.back() != 0 ? axes.sizes.back() : 2 * (have - 1);
    return {to_signal(b, p, known(b, n)), nullptr};
  });
  b.result(z.re);
}

// ---- windows of a signal ----

// A window as long as a frame: given, or ones, with zeros on both sides.
Value* window_of(Builder& b, int64_t frame, ScalarType dtype) {
  if (!b.has("window")) return nullptr;
  Value* window = b.in("window");
  const int64_t length = known(b, dim_of(window, -1));
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

}  // namespace

const Decompositions& fourier_rules() {
  static const Decompositions table = {
      {"fft_fft", fft},    {"fft_ifft", ifft},    {"fft_fft2", fft},     {"fft_ifft2", ifft},
      {"fft_fftn", fft},   {"fft_ifftn", ifft},   {"fft_rfft", rfft},    {"fft_rfft2", rfft},
      {"fft_rfftn", rfft}, {"fft_irfft", irfft},  {"fft_irfft2", irfft}, {"fft_irfftn", irfft},
      {"stft", stft},      {"stft.center", stft},
  };
  return table;
}

}  // namespace taper::exir
