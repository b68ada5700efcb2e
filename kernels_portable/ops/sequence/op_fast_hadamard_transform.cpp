// llama::fast_hadamard_transform.out: each row, of length n = m * 2^k with m = 1 or 28, times the
// Hadamard matrix that is the Kronecker product of H(m) and H(2^k), divided by the square root of
// 2^k.
//
// H(2^k) takes k passes of sums and differences. Blocks of a row that fit a buffer go through their
// passes in it; half and bfloat16 are rounded after that and after each longer pass.

#include <algorithm>
#include <cmath>

#include "kernels_portable/engine/compute.h"
#include "taper/kernel.h"

namespace taper::portable {
namespace {

constexpr int64_t kBlock = 128;
constexpr int64_t kWilliamson = 28;

// A row in memory.
template <typename T>
struct Elements {
  void* data;
  ScalarType type;

  void read(int64_t at, int64_t count, T* to) const {
    loader<T>(type)(element(data, at, type), 1, count, to);
  }
  void write(int64_t at, int64_t count, const T* from) const {
    storer<T>(type)(from, count, element(data, at, type), 1);
  }
};

template <typename T>
void add_and_subtract(T* a, T* b, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const T sum = a[i] + b[i];
    b[i] = a[i] - b[i];
    a[i] = sum;
  }
}

// Applies the scaled Hadamard matrix of order `size`, a power of two, to elements from `first` on.
template <typename T>
void power_of_two(const Elements<T>& row, int64_t first, int64_t size, T scale) {
  T a[kBlock], b[kBlock];
  const int64_t block = std::min(size, kBlock);
  for (int64_t at = first; at < first + size; at += block) {
    row.read(at, block, a);
    for (int64_t i = 0; i < block; ++i) a[i] *= scale;
    for (int64_t half = 1; half < block; half *= 2) {
      for (int64_t i = 0; i < block; i += 2 * half) add_and_subtract(a + i, a + i + half, half);
    }
    row.write(at, block, a);
  }
  for (int64_t half = kBlock; half < size; half *= 2) {
    for (int64_t at = first; at < first + size; at += kBlock) {
      if (((at - first) & half) != 0) continue;
      row.read(at, kBlock, a);
      row.read(at + half, kBlock, b);
      add_and_subtract(a, b, kBlock);
      row.write(at, kBlock, a);
      row.write(at + half, kBlock, b);
    }
  }
}

// The signs of Williamson's Hadamard matrix of order 28, made of the symmetric circulant matrices
// A, B, C and D of order 7:
//    A  B  C  D
//   -B  A -D  C
//   -C  D  A -B
//   -D -C  B  A
bool is_negative(int64_t i, int64_t j) {
  constexpr uint8_t kCirculants[] = {0x7e, 0x3c, 0x5a,
                                     0x66};  // Bit d: negative d after the diagonal.
  constexpr bool kMinus[4][4] = {{0, 0, 0, 0}, {1, 0, 1, 0}, {1, 0, 0, 1}, {1, 1, 0, 0}};
  const int64_t a = i / 7, b = j / 7, d = (j % 7 - i % 7 + 7) % 7;
  return kMinus[a][b] != (((kCirculants[a ^ b] >> d) & 1) != 0);
}

// Applies the matrix of order 28 across 28 blocks of `step` elements each.
template <typename T>
void williamson(const Elements<T>& row, int64_t step) {
  constexpr int64_t kColumns = 8;
  T in[kWilliamson][kColumns];
  for (int64_t first = 0; first < step; first += kColumns) {
    const int64_t count = std::min(kColumns, step - first);
    for (int64_t j = 0; j < kWilliamson; ++j) row.read(first + j * step, count, in[j]);
    for (int64_t i = 0; i < kWilliamson; ++i) {
      T sums[kColumns] = {};
      for (int64_t j = 0; j < kWilliamson; ++j) {
        const T sign = is_negative(i, j) ? T{-1} : T{1};
        for (int64_t c = 0; c < count; ++c) sums[c] += sign * in[j][c];
      }
      row.write(first + i * step, count, sums);
    }
  }
}

bool is_power_of_two(int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

Status fast_hadamard_transform_out(KernelContext&, const Tensor& mat, Tensor& out) {
  const ScalarType type = mat.scalar_type();
  TAPER_REQUIRE(is_floating(type) && out.scalar_type() == type, Error::kInvalidType,
                "fast_hadamard_transform: mat and out must share a floating dtype");
  TAPER_REQUIRE(mat.dim() > 0 && mat.is_contiguous() && out.is_contiguous(), Error::kNotSupported,
                "fast_hadamard_transform: mat and out must be contiguous, with a dimension");
  TAPER_TRY(out.resize(mat.sizes()));
  const int64_t size = mat.size(mat.dim() - 1);
  if (mat.numel() == 0) return {};
  const int64_t blocks = size % kWilliamson == 0 ? kWilliamson : 1;
  const int64_t power = size / blocks;
  TAPER_REQUIRE(is_power_of_two(power), Error::kInvalidArgument,
                "fast_hadamard_transform: the last size must be a power of two, or 28 times one");
  return with_float_type(type, [&](auto zero) -> Status {
    using T = decltype(zero);
    const T scale = static_cast<T>(1.0 / std::sqrt(static_cast<double>(power)));
    std::copy_n(static_cast<const char*>(mat.const_data()), mat.nbytes(),
                static_cast<char*>(out.mutable_data()));
    for (int64_t first = 0; first < out.numel(); first += size) {
      const Elements<T> row = {element(out.mutable_data(), first, type), type};
      for (int64_t b = 0; b < blocks; ++b) power_of_two(row, b * power, power, scale);
      if (blocks > 1) williamson(row, power);
    }
    return {};
  });
}

}  // namespace

extern const Kernel kFastHadamardTransformOut;
const Kernel kFastHadamardTransformOut =
    make_kernel<fast_hadamard_transform_out>("llama::fast_hadamard_transform.out");

}  // namespace taper::portable
