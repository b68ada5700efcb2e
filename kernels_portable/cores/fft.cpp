// The Cooley-Tukey algorithm: a transform of length n = p * m is p transforms of length m, each of
// every p-th element, and m transforms of length p that combine them, recursively down to primes.
// An even number of real values is transformed as half as many complex ones. Lengths whose prime
// factors are all large, and odd numbers of real values, are computed by the definition in n * n
// steps.

#include "kernels_portable/cores/fft.h"

#include <cmath>

#include "kernels_portable/engine/convert.h"
#include "kernels_portable/engine/lines.h"

namespace taper::portable {
namespace {

constexpr int64_t kMaxRadix = 32;
constexpr double kTwoPi = 6.283185307179586;

struct Complex {
  double re = 0;
  double im = 0;
};

Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
Complex operator*(Complex a, Complex b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
Complex operator*(Complex a, double b) { return {a.re * b, a.im * b}; }
Complex conjugate(Complex a) { return {a.re, -a.im}; }

// e^(sign * 2 pi i k / n)
Complex root(double sign, int64_t k, int64_t n) {
  const double angle = sign * kTwoPi * static_cast<double>(k % n) / static_cast<double>(n);
  return {std::cos(angle), std::sin(angle)};
}

// Complex numbers in memory, with float or double parts, `stride` numbers apart.
struct Numbers {
  void* data;
  ScalarType part;
  int64_t stride;

  Complex get(int64_t k) const {
    if (part == ScalarType::kFloat) {
      const float* at = static_cast<const float*>(data) + 2 * k * stride;
      return {static_cast<double>(at[0]), static_cast<double>(at[1])};
    }
    const double* at = static_cast<const double*>(data) + 2 * k * stride;
    return {at[0], at[1]};
  }
  void set(int64_t k, Complex value) const {
    if (part == ScalarType::kFloat) {
      float* at = static_cast<float*>(data) + 2 * k * stride;
      at[0] = static_cast<float>(value.re);
      at[1] = static_cast<float>(value.im);
    } else {
      double* at = static_cast<double*>(data) + 2 * k * stride;
      at[0] = value.re;
      at[1] = value.im;
    }
  }
  Numbers from(int64_t k) const { return {element(data, 2 * k * stride, part), part, stride}; }
};

// The input of a transform: `read` makes its element j from the line in memory.
struct Input {
  Complex (*read)(const Input& input, int64_t j);
  const void* data;
  ScalarType part;
  int64_t stride;
  int64_t size;

  // Element j of a line of real numbers, or of complex ones.
  double real(int64_t j) const { return load_one<double>(element(data, j * stride, part), part); }
  Complex number(int64_t j) const { return Numbers{const_cast<void*>(data), part, stride}.get(j); }
};

// Elements first, first + step, ... of the input.
struct Part {
  const Input& input;
  int64_t first;
  int64_t step;
  Complex at(int64_t j) const { return input.read(input, first + j * step); }
};

int64_t smallest_factor(int64_t n) {
  for (int64_t p = 2; p <= kMaxRadix; ++p) {
    if (n % p == 0) return p;
  }
  return n;
}

Complex by_definition(const Part& in, int64_t n, double sign, int64_t k) {
  Complex sum;
  for (int64_t j = 0; j < n; ++j) sum = sum + in.at(j) * root(sign, j * (k % n) % n, n);
  return sum;
}

// Combines p transforms of length m, which are stored one after the other, into one of length p *
// m.
void join(const Numbers& out, int64_t p, int64_t m, double sign) {
  Complex x[kMaxRadix], roots[kMaxRadix];
  for (int64_t q = 0; q < p; ++q) roots[q] = root(sign, q, p);
  const Complex step = root(sign, 1, p * m);
  Complex twiddle = {1, 0};
  for (int64_t k = 0; k < m; ++k) {
    if (k % 16 == 0) twiddle = root(sign, k, p * m);  // So that rounding errors do not add up.
    Complex power = {1, 0};
    for (int64_t q = 0; q < p; ++q) {
      x[q] = out.get(k + q * m) * power;
      power = power * twiddle;
    }
    for (int64_t r = 0; r < p; ++r) {
      Complex sum = x[0];
      for (int64_t q = 1; q < p; ++q) sum = sum + x[q] * roots[q * r % p];
      out.set(k + r * m, sum);
    }
    twiddle = twiddle * step;
  }
}

void transform(const Part& in, int64_t n, double sign, const Numbers& out) {
  const int64_t p = n == 1 ? 1 : smallest_factor(n);
  if (p == n && (n == 1 || n > kMaxRadix)) {
    for (int64_t k = 0; k < n; ++k) out.set(k, by_definition(in, n, sign, k));
    return;
  }
  const int64_t m = n / p;
  for (int64_t q = 0; q < p; ++q) {
    transform({in.input, in.first + q * in.step, in.step * p}, m, sign, out.from(q * m));
  }
  join(out, p, m, sign);
}

Complex read_number(const Input& in, int64_t j) { return in.number(j); }
Complex read_real(const Input& in, int64_t j) { return {in.real(j), 0}; }
Complex read_pair(const Input& in, int64_t j) { return {in.real(2 * j), in.real(2 * j + 1)}; }

// `out` holds the transform of n real values taken as n / 2 complex ones. Replaces it in place by
// the n / 2 + 1 terms of the transform of the real values.
void unpack(const Numbers& out, int64_t half) {
  const Complex first = out.get(0);
  for (int64_t k = 1; k <= half - k; ++k) {
    const Complex a = out.get(k), b = conjugate(out.get(half - k));
    const Complex even = (a + b) * 0.5;
    const Complex odd = (a - b) * 0.5 * Complex{0, -1} * root(-1, k, 2 * half);
    out.set(k, even + odd);
    out.set(half - k, conjugate(even - odd));
  }
  out.set(0, {first.re + first.im, 0});
  out.set(half, {first.re - first.im, 0});
}

// The inverse of unpack(): term k of the complex transform, computed when it is read.
Complex read_packed(const Input& in, int64_t k) {
  const int64_t half = in.size / 2;
  Complex a = in.number(k), b = conjugate(in.number(half - k));
  if (k == 0) a.im = b.im = 0;
  return (a + b) + (a - b) * Complex{0, 1} * root(1, k, in.size);
}

// Element j of the n real values whose transform has these terms, by the definition.
double real_by_definition(const Input& in, int64_t j) {
  double sum = in.number(0).re;
  for (int64_t k = 1; k <= in.size / 2; ++k) {
    const Complex term = in.number(k) * root(1, j * k % in.size, in.size);
    sum += 2 * k == in.size ? in.number(k).re * root(1, j * k % in.size, in.size).re : 2 * term.re;
  }
  return sum;
}

void scale(const Numbers& numbers, int64_t count, double factor) {
  for (int64_t k = 0; factor != 1 && k < count; ++k) numbers.set(k, numbers.get(k) * factor);
}

Numbers numbers_of(const Line& line) {
  return {const_cast<void*>(line.data), part_type(line.type), line.stride};
}

}  // namespace

Status fourier_factor(int64_t normalization, double count, double* factor) {
  TAPER_REQUIRE(normalization >= 0 && normalization <= 2, Error::kInvalidArgument,
                "fft: normalization must be 0, 1 or 2");
  *factor = normalization == 0 ? 1 : 1 / (normalization == 1 ? std::sqrt(count) : count);
  return {};
}

void real_to_complex(const Fourier& fourier, const Tensor& self, Tensor& out) {
  const int64_t n = fourier.size;
  for_each_line(self, fourier.dim, out, [&](const Line& from, const Line& line) {
    const Numbers to = numbers_of(line);
    Input in = {read_real, from.data, from.type, from.stride, n};
    if (n % 2 == 0) {
      in.read = read_pair;
      transform({in, 0, 1}, n / 2, -1, to);
      unpack(to, n / 2);
    } else {
      for (int64_t k = 0; k <= n / 2; ++k) to.set(k, by_definition({in, 0, 1}, n, -1, k));
    }
    scale(to, n / 2 + 1, fourier.factor);
    for (int64_t k = n / 2 + 1; k < line.size; ++k) to.set(k, conjugate(to.get(n - k)));
  });
}

Status complex_in_place(KernelContext& context, const Fourier& fourier, Tensor& out) {
  constexpr int64_t kOnStack = 128;
  Complex stack[kOnStack];
  Complex* buffer = stack;
  const int64_t n = fourier.size;
  if (n > kOnStack) {
    buffer = static_cast<Complex*>(context.allocate_temp(static_cast<size_t>(n) * sizeof(Complex)));
    TAPER_REQUIRE(buffer != nullptr, Error::kMemoryAllocationFailed,
                  "fft: a line of more than 128 elements needs temp memory");
  }
  for_each_line(out, fourier.dim, out, [&](const Line&, const Line& line) {
    const Numbers to = numbers_of(line);
    for (int64_t j = 0; j < n; ++j) buffer[j] = to.get(j);
    const Input in = {read_number, buffer, ScalarType::kDouble, 1, n};
    transform({in, 0, 1}, n, -1, to);
  });
  return {};
}

void complex_to_complex(const Fourier& fourier, bool forward, const Tensor& self, Tensor& out) {
  const int64_t n = fourier.size;
  for_each_line(self, fourier.dim, out, [&](const Line& from, const Line& line) {
    const Numbers to = numbers_of(line);
    const Input in = {read_number, from.data, part_type(from.type), from.stride, n};
    transform({in, 0, 1}, n, forward ? -1 : 1, to);
    scale(to, n, fourier.factor);
  });
}

void complex_to_real(const Fourier& fourier, const Tensor& self, Tensor& out) {
  const int64_t n = fourier.size;
  for_each_line(self, fourier.dim, out, [&](const Line& from, const Line& to) {
    Input in = {read_packed, from.data, part_type(from.type), from.stride, n};
    if (n % 2 == 0 && to.stride == 1) {  // Pairs of real results are complex ones.
      const Numbers pairs = {const_cast<void*>(to.data), to.type, 1};
      transform({in, 0, 1}, n / 2, 1, pairs);
      scale(pairs, n / 2, fourier.factor);
      return;
    }
    for (int64_t j = 0; j < n; ++j) {
      const double value = real_by_definition(in, j) * fourier.factor;
      to.write(j, 1, &value);
    }
  });
}

}  // namespace taper::portable
