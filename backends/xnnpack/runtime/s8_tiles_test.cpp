// Tests the int8 microkernels that are compiled into XNNPACK (backends/xnnpack/library), called as
// XNNPACK calls them, against sums of integers.

#include <gtest/gtest.h>

#if defined(__x86_64__)

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): XNNPACK's names.
extern "C" {
// XNNPACK's declarations.
union xnn_qs8_qc8w_conv_minmax_params {
  struct {
    int16_t output_zero_point, output_min, output_max;
  } fp32_scalar;
};
union xnn_f32_minmax_params {
  struct {
    float min, max;
  } scalar;
};
struct xnn_qd8_quantization_params {
  int32_t zero_point;
  float inv_scale;
};
using Qs8Gemm = void(size_t, size_t, size_t, const int8_t*, size_t, const void*, int8_t*, size_t,
                     size_t, const xnn_qs8_qc8w_conv_minmax_params*);
using Qs8Igemm = void(size_t, size_t, size_t, size_t, const int8_t**, const void*, int8_t*, size_t,
                      size_t, size_t, const int8_t*, const xnn_qs8_qc8w_conv_minmax_params*);
using Qd8Gemm = void(size_t, size_t, size_t, const int8_t*, size_t, const void*, float*, size_t,
                     size_t, const xnn_f32_minmax_params*, const xnn_qd8_quantization_params*);
using Qd8Igemm = void(size_t, size_t, size_t, size_t, const int8_t**, const void*, float*, size_t,
                      size_t, size_t, const int8_t*, const int8_t*, const xnn_f32_minmax_params*,
                      const xnn_qd8_quantization_params*);
struct xnn_qs8_add_minmax_params {
  struct {
    int8_t a_zero_point, b_zero_point;
    int32_t bias, a_multiplier, b_multiplier, shift;
    int16_t output_zero_point;
    int8_t output_min, output_max;
  } scalar;
};
union xnn_qs8_mul_minmax_params {
  struct {
    int8_t a_zero_point, b_zero_point;
    float scale;
    int16_t output_zero_point;
    int8_t output_min, output_max;
  } scalar;
};
using Qs8Dwconv = void(size_t, size_t, const int8_t**, const void*, int8_t*, intptr_t, size_t,
                       size_t, const int8_t*, const xnn_qs8_qc8w_conv_minmax_params*);
Qs8Gemm taper_qs8_gemm_32x32c4__amx;
Qs8Igemm taper_qs8_igemm_32x32c4__amx, taper_qs8_igemm_1x32c4__amx;
Qd8Gemm taper_qd8_f32_gemm_32x32c4__amx;
Qd8Igemm taper_qd8_f32_igemm_32x32c4__amx, taper_qd8_f32_igemm_1x32c4__amx;
Qs8Gemm taper_qs8_gemm_14x32c4__avx512vnni;
Qs8Igemm taper_qs8_igemm_14x32c4__avx512vnni, taper_qs8_igemm_1x32c4__avx512vnni;
Qd8Gemm taper_qd8_f32_gemm_14x32c4__avx512vnni;
Qd8Igemm taper_qd8_f32_igemm_14x32c4__avx512vnni, taper_qd8_f32_igemm_1x32c4__avx512vnni;
Qs8Gemm taper_qs8_gemm_6x16c2__avx2;
Qs8Igemm taper_qs8_igemm_6x16c2__avx2, taper_qs8_igemm_1x16c2__avx2;
Qd8Gemm taper_qd8_f32_gemm_6x16c2__avx2;
Qd8Igemm taper_qd8_f32_igemm_6x16c2__avx2, taper_qd8_f32_igemm_1x16c2__avx2;
Qs8Dwconv taper_qs8_dwconv_9p64c__avx512vnni;
void taper_qs8_vadd__avx512skx(size_t, const int8_t*, const int8_t*, int8_t*,
                               const xnn_qs8_add_minmax_params*);
void taper_qs8_vmul__avx512skx(size_t, const int8_t*, const int8_t*, int8_t*,
                               const xnn_qs8_mul_minmax_params*);
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

namespace taper::xnnpack {
namespace {

// The kernels of one instruction set. Their weights are packed in panels of columns and groups of
// steps. `larger` is what those of int8 results add to pixels, for which packed biases make up.
struct Kernels {
  Qs8Gemm* qs8_gemm;
  Qd8Gemm* qd8_gemm;
  Qs8Igemm *qs8_igemm, *qs8_igemm_of_one_row;
  Qd8Igemm *qd8_igemm, *qd8_igemm_of_one_row;
  size_t rows, panel, group;
  int32_t larger = 0;
};

constexpr Kernels kAmx = {taper_qs8_gemm_32x32c4__amx,
                          taper_qd8_f32_gemm_32x32c4__amx,
                          taper_qs8_igemm_32x32c4__amx,
                          taper_qs8_igemm_1x32c4__amx,
                          taper_qd8_f32_igemm_32x32c4__amx,
                          taper_qd8_f32_igemm_1x32c4__amx,
                          32,
                          32,
                          4};
constexpr Kernels kVnni = {taper_qs8_gemm_14x32c4__avx512vnni,
                           taper_qd8_f32_gemm_14x32c4__avx512vnni,
                           taper_qs8_igemm_14x32c4__avx512vnni,
                           taper_qs8_igemm_1x32c4__avx512vnni,
                           taper_qd8_f32_igemm_14x32c4__avx512vnni,
                           taper_qd8_f32_igemm_1x32c4__avx512vnni,
                           14,
                           32,
                           4,
                           128};
constexpr Kernels kAvx2 = {taper_qs8_gemm_6x16c2__avx2,
                           taper_qd8_f32_gemm_6x16c2__avx2,
                           taper_qs8_igemm_6x16c2__avx2,
                           taper_qs8_igemm_1x16c2__avx2,
                           taper_qd8_f32_igemm_6x16c2__avx2,
                           taper_qd8_f32_igemm_1x16c2__avx2,
                           6,
                           16,
                           2};

constexpr size_t kSpare = 3;  // Columns between rows of a result, which must not be written.
constexpr int8_t kNothing = -77;
constexpr xnn_qs8_qc8w_conv_minmax_params kLimits = {{-5, -100, 90}};
constexpr xnn_f32_minmax_params kFloatLimits = {{-900, 1000}};

int8_t byte(size_t i) { return static_cast<int8_t>(i * 89 % 255 - 127); }

std::vector<int8_t> bytes(size_t count, size_t first) {
  std::vector<int8_t> all(count);
  for (size_t i = 0; i < count; ++i) all[i] = byte(first + i);
  return all;
}

int8_t quantised(int32_t sum, float scale) {
  const auto& limits = kLimits.fp32_scalar;
  const double value = std::nearbyint(static_cast<float>(sum) * scale) + limits.output_zero_point;
  const double min = limits.output_min, max = limits.output_max;
  return static_cast<int8_t>(std::clamp(value, min, max));
}

// The weights of `columns` columns for `places` times `channels` steps, and their packing.
struct Weights {
  size_t columns, places, channels;

  int8_t at(size_t n, size_t place, size_t k) const {
    return byte(7 + (n * places + place) * channels + k);
  }
  int32_t bias(size_t n) const { return static_cast<int32_t>(n * 1009 % 4001) - 2000; }
  float scale(size_t n) const { return 0.25f / static_cast<float>(n % 5 + 3) / channels; }
  float float_bias(size_t n) const { return static_cast<float>(n % 7) - 3; }

  template <typename T>
  static void put(std::vector<char>& to, T value) {
    const auto* from = reinterpret_cast<const char*>(&value);
    to.insert(to.end(), from, from + sizeof(T));
  }

  // The sum of a column's weights.
  int32_t total(size_t n) const {
    return sum(n, [](size_t, size_t) { return 1; });
  }

  // Packs the weights, for float results with float biases after the scales, and the factors of
  // zero points in place of the biases of integers.
  std::vector<char> packed(const Kernels& kernels, bool for_floats) const {
    std::vector<char> to;
    for (size_t n0 = 0; n0 < columns; n0 += kernels.panel) {
      const auto each = [&](auto put_one) {
        for (size_t n = n0; n < n0 + kernels.panel; ++n) put_one(n);
      };
      const auto first = [&](size_t n) {
        return for_floats ? -total(n) : bias(n) - kernels.larger * total(n);
      };
      each([&](size_t n) { put(to, n < columns ? first(n) : 0); });
      for (size_t place = 0; place < places; ++place) {
        for (size_t k0 = 0; k0 < channels; k0 += kernels.group) {
          each([&](size_t n) {
            for (size_t k = k0; k < k0 + kernels.group; ++k) {
              put(to, n < columns && k < channels ? at(n, place, k) : int8_t{0});
            }
          });
        }
      }
      each([&](size_t n) { put(to, scale(n)); });
      if (for_floats) each([&](size_t n) { put(to, float_bias(n)); });
    }
    return to;
  }

  // pixel(place, k) is the factor of a weight.
  template <typename Pixel>
  int32_t sum(size_t n, Pixel pixel) const {
    int32_t result = 0;
    for (size_t place = 0; place < places; ++place) {
      for (size_t k = 0; k < channels; ++k) result += pixel(place, k) * at(n, place, k);
    }
    return result;
  }
};

// Checks int8 results; pixel(row, place, k) is the factor of a weight.
template <typename Pixel>
void check(const Weights& w, size_t rows, const std::vector<int8_t>& c, Pixel pixel) {
  for (size_t i = 0; i < rows; ++i) {
    const int8_t* row = &c[i * (w.columns + kSpare)];
    for (size_t n = 0; n < w.columns; ++n) {
      const int32_t sum = w.sum(n, [&](size_t place, size_t k) { return pixel(i, place, k); });
      ASSERT_EQ(row[n], quantised(sum + w.bias(n), w.scale(n))) << "row " << i << ", column " << n;
    }
    for (size_t n = 0; n < kSpare; ++n) ASSERT_EQ(row[w.columns + n], kNothing);
  }
}

// Checks float results; row i has parameters(i).
template <typename Parameters, typename Pixel>
void check(const Weights& w, size_t rows, const std::vector<float>& c, Parameters parameters,
           Pixel pixel) {
  for (size_t i = 0; i < rows; ++i) {
    const float* row = &c[i * (w.columns + kSpare)];
    const xnn_qd8_quantization_params p = parameters(i);
    for (size_t n = 0; n < w.columns; ++n) {
      const int32_t sum = w.sum(n, [&](size_t place, size_t k) { return pixel(i, place, k); });
      const double value = double{p.inv_scale} * w.scale(n) * (sum - w.total(n) * p.zero_point);
      const double limited = std::clamp(value + w.float_bias(n), -900.0, 1000.0);
      ASSERT_NEAR(row[n], limited, 1e-3) << "row " << i << ", column " << n;
    }
    for (size_t n = 0; n < kSpare; ++n) ASSERT_EQ(row[w.columns + n], kNothing);
  }
}

xnn_qd8_quantization_params of_row(size_t i) {
  return {static_cast<int32_t>(i % 9) - 4, 0.5f + static_cast<float>(i % 3)};
}

void check_gemm(const Kernels& kernels, size_t rows, size_t columns, size_t depth) {
  SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns) + " x " +
               std::to_string(depth));
  const Weights w = {columns, 1, depth};
  const size_t stride = depth + 2;
  const std::vector<int8_t> a = bytes((rows - 1) * stride + depth, 0);
  const auto pixel = [&](size_t i, size_t, size_t k) { return a[i * stride + k]; };
  const size_t spaced = columns + kSpare;

  std::vector<int8_t> c(rows * spaced, kNothing);
  kernels.qs8_gemm(rows, columns, depth, a.data(), stride, w.packed(kernels, false).data(),
                   c.data(), spaced, kernels.panel, &kLimits);
  check(w, rows, c, pixel);

  std::vector<xnn_qd8_quantization_params> parameters(rows);
  for (size_t i = 0; i < rows; ++i) parameters[i] = of_row(i);
  std::vector<float> f(rows * spaced, kNothing);
  kernels.qd8_gemm(rows, columns, depth, a.data(), stride, w.packed(kernels, true).data(), f.data(),
                   spaced * sizeof(float), kernels.panel * sizeof(float), &kFloatLimits,
                   parameters.data());
  check(w, rows, f, of_row, pixel);
}

// An image and a window of 2 lines by 3 pixels that moves along it; lines have 7 pixels. The first
// place is outside the image in every fifth row.
struct Image {
  static constexpr size_t kPlaces = 6, kWidth = 7, kOffset = 5;
  size_t channels;
  std::vector<int8_t> pixels, zeros;

  Image(size_t rows, size_t channels)
      : channels(channels),
        pixels(bytes((rows + 2 * kWidth + 3) * channels, 0)),
        zeros(bytes(channels, 300)) {}

  bool is_outside(size_t row, size_t place) const { return place == 0 && row % 5 == 0; }
  const int8_t* at(size_t row, size_t place) const {
    return &pixels[(row + place / 3 * kWidth + place % 3) * channels];
  }
  const int8_t* read(size_t row, size_t place) const {
    return is_outside(row, place) ? zeros.data() : at(row, place);
  }
  // The pointers, in groups of `height`.
  std::vector<const int8_t*> pointers(size_t rows, size_t height) const {
    std::vector<const int8_t*> all;
    for (size_t place = 0; place < kPlaces; ++place) {
      for (size_t i = 0; i < height; ++i) {
        const size_t row = std::min(i, rows - 1);
        all.push_back(is_outside(row, place) ? zeros.data() : at(row, place) - kOffset);
      }
    }
    return all;
  }
};

// `height` is the number of rows that a kernel is made for.
void check_igemm(const Kernels& kernels, size_t height, size_t rows, size_t columns,
                 size_t channels) {
  Qs8Igemm* qs8 = height == 1 ? kernels.qs8_igemm_of_one_row : kernels.qs8_igemm;
  Qd8Igemm* qd8 = height == 1 ? kernels.qd8_igemm_of_one_row : kernels.qd8_igemm;
  SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns) + " x 6 x " +
               std::to_string(channels));
  const Weights w = {columns, Image::kPlaces, channels};
  const Image image(rows, channels);
  const auto pixel = [&](size_t i, size_t place, size_t k) { return image.read(i, place)[k]; };
  std::vector<const int8_t*> pointers = image.pointers(rows, height);
  const size_t pointer_bytes = pointers.size() * sizeof(void*), spaced = columns + kSpare;

  std::vector<int8_t> c(rows * spaced, kNothing);
  qs8(rows, columns, channels, pointer_bytes, pointers.data(), w.packed(kernels, false).data(),
      c.data(), spaced, kernels.panel, Image::kOffset, image.zeros.data(), &kLimits);
  check(w, rows, c, pixel);

  const xnn_qd8_quantization_params parameters = of_row(2);
  const int8_t sentinel = 0;
  for (auto& pointer : pointers) {
    if (pointer == image.zeros.data()) pointer = &sentinel;
  }
  std::vector<float> f(rows * spaced, kNothing);
  qd8(rows, columns, channels, pointer_bytes, pointers.data(), w.packed(kernels, true).data(),
      f.data(), spaced * sizeof(float), kernels.panel * sizeof(float), Image::kOffset, &sentinel,
      image.zeros.data(), &kFloatLimits, &parameters);
  check(
      w, rows, f, [&](size_t) { return parameters; }, pixel);
}

struct Features {
  bool avx2, avx512, vnni, amx;

  Features() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    __get_cpuid_count(7, 0, &a, &b, &c, &d);
    avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    avx512 = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    vnni = avx512 && (c >> 11 & 1) != 0;
    constexpr int kRequestPermission = 0x1023, kTileData = 18;
    amx = vnni && (c >> 1 & 1) != 0 && (d >> 24 & 1) != 0 && (d >> 25 & 1) != 0 &&
          syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  }
};

void check_products(const Kernels& kernels) {
  const size_t most = kernels.rows;
  for (size_t rows : {size_t{1}, size_t{2}, most / 2 - 1, most / 2, most / 2 + 1, most - 1, most}) {
    for (size_t columns : {1, 7, 8, 9, 15, 16, 17, 32, 67, 130}) {
      for (size_t depth : {1, 4, 63, 64, 65, 130}) check_gemm(kernels, rows, columns, depth);
    }
  }
  check_gemm(kernels, most, 40, 576);
  check_gemm(kernels, most / 2 + 1, 300, 1221);
  check_gemm(kernels, 1, 40, 1221);
}

void check_convolutions(const Kernels& kernels) {
  const size_t most = kernels.rows;
  for (size_t channels : {1, 2, 3, 4, 5, 8, 11, 16, 30, 32, 64, 70, 200}) {
    for (size_t rows : {size_t{1}, most / 2, most / 2 + 1, most}) {
      check_igemm(kernels, most, rows, 33, channels);
    }
    check_igemm(kernels, most, most / 2, 1, channels);
    check_igemm(kernels, 1, 1, 35, channels);
  }
  check_igemm(kernels, most, most, 300, 3);
  check_igemm(kernels, most, most / 2 + 1, 300, 100);
  check_igemm(kernels, most, most, 300, 171);
}

TEST(S8Tiles, ProductsByTheMatrixUnit) {
  if (!Features().amx) GTEST_SKIP() << "the processor has no AMX";
  check_products(kAmx);
}

TEST(S8Tiles, ConvolutionsByTheMatrixUnit) {
  if (!Features().amx) GTEST_SKIP() << "the processor has no AMX";
  check_convolutions(kAmx);
}

TEST(S8Tiles, ProductsByFourBytes) {
  if (!Features().vnni) GTEST_SKIP() << "the processor has no AVX-512 VNNI";
  check_products(kVnni);
}

TEST(S8Tiles, ConvolutionsByFourBytes) {
  if (!Features().vnni) GTEST_SKIP() << "the processor has no AVX-512 VNNI";
  check_convolutions(kVnni);
}

TEST(S8Tiles, Products) {
  if (!Features().avx2) GTEST_SKIP() << "the processor has no AVX2";
  check_products(kAvx2);
}

TEST(S8Tiles, Convolutions) {
  if (!Features().avx2) GTEST_SKIP() << "the processor has no AVX2";
  check_convolutions(kAvx2);
}

// Packs nine weights per channel.
std::vector<char> depthwise_weights(const Weights& w) {
  constexpr size_t kChannels = 64;
  std::vector<char> to;
  for (size_t c0 = 0; c0 < w.columns; c0 += kChannels) {
    const auto each = [&](auto put_one) {
      for (size_t c = c0; c < c0 + kChannels; ++c) put_one(c);
    };
    each([&](size_t c) { Weights::put(to, c < w.columns ? w.bias(c) : 0); });
    for (size_t place = 0; place < w.places; ++place) {
      each([&](size_t c) { Weights::put(to, c < w.columns ? w.at(c, place, 0) : int8_t{0}); });
    }
    each([&](size_t c) { Weights::put(to, w.scale(c)); });
  }
  return to;
}

// Checks a line of pixels whose windows are `step` pointers apart; every seventh pointer is outside
// the image.
void check_depthwise(size_t channels, size_t width, size_t step) {
  SCOPED_TRACE(std::to_string(channels) + " channels, " + std::to_string(width) + " pixels, " +
               std::to_string(step) + " apart");
  constexpr size_t kOffset = 5;
  const Weights w = {channels, 9, 1};
  const size_t count = (width - 1) * step + w.places;
  const std::vector<int8_t> pixels = bytes(count * channels, 0), zeros = bytes(channels, 300);
  std::vector<const int8_t*> pointers(count);
  for (size_t i = 0; i < count; ++i) {
    pointers[i] = i % 7 == 0 ? zeros.data() : &pixels[i * channels] - kOffset;
  }
  std::vector<int8_t> c(width * (channels + kSpare), kNothing);
  taper_qs8_dwconv_9p64c__avx512vnni(channels, width, pointers.data(), depthwise_weights(w).data(),
                                     c.data(), static_cast<intptr_t>(step * sizeof(void*)), kSpare,
                                     kOffset, zeros.data(), &kLimits);
  for (size_t i = 0; i < width; ++i) {
    for (size_t n = 0; n < channels; ++n) {
      const int32_t sum = w.sum(n, [&](size_t place, size_t) {
        const size_t at = i * step + place;
        return at % 7 == 0 ? zeros[n] : pixels[at * channels + n];
      });
      ASSERT_EQ(c[i * (channels + kSpare) + n], quantised(sum + w.bias(n), w.scale(n)))
          << "pixel " << i << ", channel " << n;
    }
    for (size_t n = 0; n < kSpare; ++n) {
      ASSERT_EQ(c[i * (channels + kSpare) + channels + n], kNothing);
    }
  }
}

// wanted(x, y) is a result without its zero point and bounds.
template <typename Kernel, typename Params, typename Wanted>
void check_elements(Kernel kernel, const Params& params, Wanted wanted) {
  const auto& p = params.scalar;
  for (size_t count : {1, 15, 16, 17, 63, 64, 65, 128, 200, 4099}) {
    const std::vector<int8_t> a = bytes(count, 3);
    std::vector<int8_t> b(count), c(count + kSpare, kNothing);
    for (size_t i = 0; i < count; ++i) b[i] = static_cast<int8_t>(i * 37 / 255 + i * 11);
    kernel(count, a.data(), b.data(), c.data(), &params);
    for (size_t i = 0; i < count; ++i) {
      const int64_t result = wanted(a[i], b[i]) + p.output_zero_point;
      ASSERT_EQ(c[i], std::clamp<int64_t>(result, p.output_min, p.output_max)) << i;
    }
    for (size_t i = count; i < c.size(); ++i) ASSERT_EQ(c[i], kNothing);
  }
}

TEST(S8Tiles, SumsOfElements) {
  if (!Features().avx512) GTEST_SKIP() << "the processor has no AVX-512";
  for (const int32_t factor : {1 << 20, -1500000, 1 << 21}) {
    for (const int32_t shift : {12, 20, 30}) {
      const xnn_qs8_add_minmax_params params = {
          {5, -3, (1 << (shift - 1)) - 777, factor, 1234567, shift, 9, -120, 101}};
      check_elements(taper_qs8_vadd__avx512skx, params, [&](int64_t x, int64_t y) {
        const auto& p = params.scalar;
        return (p.bias + x * p.a_multiplier + y * p.b_multiplier) >> p.shift;
      });
    }
  }
}

TEST(S8Tiles, ProductsOfElements) {
  if (!Features().avx512) GTEST_SKIP() << "the processor has no AVX-512";
  for (const float scale : {0.0001f, 1.0f / 128, 0.013f, 200.0f}) {
    const xnn_qs8_mul_minmax_params params = {{-128, 127, scale, -6, -100, 127}};
    check_elements(taper_qs8_vmul__avx512skx, params, [&](int64_t x, int64_t y) {
      const auto& p = params.scalar;
      const int64_t product = (x - p.a_zero_point) * (y - p.b_zero_point);
      return static_cast<int64_t>(std::nearbyint(static_cast<float>(product) * scale));
    });
  }
}

TEST(S8Tiles, Depthwise) {
  if (!Features().vnni) GTEST_SKIP() << "the processor has no VNNI";
  for (size_t channels : {1, 8, 16, 31, 32, 33, 63, 64, 65, 96, 200}) {
    for (size_t width : {1, 2, 5, 8}) {
      for (size_t step : {1, 3, 6, 9}) check_depthwise(channels, width, step);
    }
  }
}

}  // namespace
}  // namespace taper::xnnpack

#endif  // __x86_64__
