// What becomes of products of integers of 8 bits: by matrix units where a device has some for bytes,
// in tiles that the shader can make of the device's fragments.

#include <gtest/gtest.h>

#include <algorithm>

#include "backends/vulkan/planner/limits_profiles.h"
#include "backends/vulkan/planner/plan_for_test.h"

namespace taper::vulkan {
namespace {

using Id = PayloadBuilder::Id;

struct Sizes {
  uint32_t m, n, k;
};

constexpr Sizes kSizes[] = {{5, 1, 1},     {5, 70, 6},       {37, 19, 700},     {64, 64, 32},
                            {17, 33, 31},  {65, 129, 100},   {128, 768, 3072},  {128, 768, 768},
                            {5, 16, 9001}, {1024, 1000, 64}, {2048, 2048, 2048}};

// Rows that stand for integers times weights of bytes.
std::vector<uint8_t> rows_payload(const Sizes& s) {
  PayloadBuilder p;
  const Id q = p.tensor({s.m, s.k}, wire::DataType::Int8), none = p.none();
  p.inputs.push_back(static_cast<uint32_t>(q));
  const Id x = p.tensor({s.m, s.k}), y = p.tensor({s.m, s.n});
  p.call("quantized_decomposed.dequantize_per_tensor.default",
         {q, p.real(0.5), p.integer(3), p.integer(-128), p.integer(127), none, none, x});
  const Id weights = p.signed_bytes({s.n, s.k}, std::vector<int8_t>(size_t{s.n} * s.k, 1));
  p.call("et_vk.linear_q8csw.default",
         {x, weights, p.constant({s.n}, std::vector<float>(s.n, 1)), none, y});
  p.output(y);
  return p.finish();
}

// An image that stands for integers, with windows of 3 x 3.
std::vector<uint8_t> image_payload(uint32_t in, uint32_t out, uint32_t size) {
  PayloadBuilder p;
  const Id q = p.tensor({1, in, size, size}, wire::DataType::Int8), none = p.none();
  p.inputs.push_back(static_cast<uint32_t>(q));
  const Id x = p.tensor({1, in, size, size}), y = p.tensor({1, out, size, size});
  const Id one = p.integers({1, 1});
  p.call("quantized_decomposed.dequantize_per_tensor.default",
         {q, p.real(0.5), p.integer(3), p.integer(-128), p.integer(127), none, none, x});
  const Id weights = p.signed_bytes({out, in, 3, 3}, std::vector<int8_t>(size_t{9} * in * out, 1));
  p.call("taper.convolution_q8csw.default",
         {x, weights, p.constant({out}, std::vector<float>(out, 1)), none, one, one, one,
          p.flag(false), p.integers({0, 0}), p.integer(1), y});
  p.output(y);
  return p.finish();
}

// The product of a plan.
const Dispatch* product_of(const Planned& planned) {
  for (const Dispatch& each : planned.plan.dispatches()) {
    const bool is_product = each.shader == Shader::byte_units ||
                            each.shader == Shader::gemm_bytes || each.shader == Shader::gemm;
    if (is_product) return &each;
  }
  return nullptr;
}

// What byte_units.comp asks of its constants, which product.glsl and byte_product.glsl name.
void expect_tiles(const Dispatch& product, const Limits& limits, uint32_t m, uint32_t n) {
  const uint32_t tile_m = product.constants[0], tile_n = product.constants[1];
  const uint32_t threads = product.constants[10], words = product.constants[13];
  const uint32_t fragment = product.constants[14];
  const uint32_t fragment_m = fragment & 255, fragment_n = fragment >> 8 & 255;
  const uint32_t fragment_k = fragment >> 16;
  EXPECT_EQ(fragment_m, limits.byte_fragment[0]);
  EXPECT_EQ(fragment_n, limits.byte_fragment[1]);
  EXPECT_EQ(fragment_k, limits.byte_fragment[2]);
  EXPECT_EQ(words * 4 % fragment_k, 0u);
  EXPECT_EQ(tile_m % fragment_m, 0u);
  EXPECT_EQ(tile_n % fragment_n, 0u);
  const uint32_t subgroups = tile_m * tile_n / (fragment_m * fragment_n);
  EXPECT_EQ(subgroups * limits.subgroup, threads);
  EXPECT_LE(threads, 512u);
  EXPECT_EQ(tile_m * words % threads, 0u);
  EXPECT_EQ(tile_n * words % threads, 0u);
  const uint32_t shared = 2 * (tile_m + tile_n) * (words * 4 + 16);
  EXPECT_LE(shared + 4 * std::max(tile_m, tile_n), 48u * 1024);
  EXPECT_LE(subgroups * fragment_m * fragment_n * 4, shared);
  EXPECT_EQ(product.groups[0], (n + tile_n - 1) / tile_n);
  EXPECT_EQ(product.groups[1], (m + tile_m - 1) / tile_m);
}

TEST(BytePlan, MatrixUnitsMultiplyWhereTheyAre) {
  int with_units = 0;
  for (const LimitsProfile& profile : limits_profiles()) {
    SCOPED_TRACE(profile.name);
    const bool has_units = profile.limits.byte_fragment[0] != 0;
    with_units += has_units;
    for (const Sizes& s : kSizes) {
      SCOPED_TRACE(testing::Message() << s.m << " x " << s.n << " x " << s.k);
      const Planned planned(rows_payload(s), profile.limits, /*fuses=*/true);
      ASSERT_STREQ(planned.status.message(), "");
      EXPECT_EQ(overlaps(planned.plan), "");
      const Dispatch* product = product_of(planned);
      ASSERT_NE(product, nullptr);
      EXPECT_EQ(product->shader, has_units ? Shader::byte_units : Shader::gemm);
      if (has_units) expect_tiles(*product, profile.limits, s.m, s.n);
    }
    for (const uint32_t size : {3u, 14u, 56u}) {
      const Planned planned(image_payload(70, 65, size), profile.limits, /*fuses=*/true);
      ASSERT_STREQ(planned.status.message(), "");
      const Dispatch* product = product_of(planned);
      ASSERT_NE(product, nullptr);
      EXPECT_EQ(product->shader, has_units ? Shader::byte_units : Shader::gemm);
      if (has_units) expect_tiles(*product, profile.limits, 65, size * size);
    }
  }
  EXPECT_GE(with_units, 3);
}

TEST(BytePlan, WithoutMatrixUnitsProductsOfBytesAreTaken) {
  Limits limits;
  limits.byte_products = true;
  for (const Sizes& s : kSizes) {
    const Planned planned(rows_payload(s), limits, /*fuses=*/true);
    ASSERT_STREQ(planned.status.message(), "");
    ASSERT_NE(product_of(planned), nullptr);
    EXPECT_EQ(product_of(planned)->shader, Shader::gemm_bytes);
  }
}

// Without products of bytes nothing adds up the bytes of rows; and sums of more than 2^16 products
// may not fit in an int32.
TEST(BytePlan, MatrixUnitsNeedProductsOfBytesAndSumsThatFit) {
  Limits limits;
  std::fill_n(limits.byte_fragment, 3, 16);
  const Planned without(rows_payload({64, 64, 64}), limits, /*fuses=*/true);
  ASSERT_NE(product_of(without), nullptr);
  EXPECT_EQ(product_of(without)->shader, Shader::gemm);
  limits.byte_products = true;
  const Planned longest(rows_payload({8, 8, 1 << 16}), limits, /*fuses=*/true);
  EXPECT_EQ(product_of(longest)->shader, Shader::byte_units);
  const Planned longer(rows_payload({8, 8, (1 << 16) + 4}), limits, /*fuses=*/true);
  EXPECT_EQ(product_of(longer)->shader, Shader::gemm);
}

// Parts stay integers until they are added up, whoever multiplies: so tiles do not change a number.
TEST(BytePlan, PartsAreIntegers) {
  Limits limits;
  limits.byte_products = true;
  for (const uint32_t side : {0u, 16u}) {
    std::fill_n(limits.byte_fragment, 3, side);
    const Planned planned(rows_payload({8, 8, 1 << 14}), limits, /*fuses=*/true);
    ASSERT_STREQ(planned.status.message(), "");
    const Dispatch& sums = planned.plan.dispatches().back();
    ASSERT_EQ(sums.shader, Shader::sum_parts);
    EXPECT_GT(sums.constants[0], 1u);
    EXPECT_EQ(sums.constants[4], 1u);  // Scales of columns.
    EXPECT_EQ(sums.num_bindings, 6);
  }
}

}  // namespace
}  // namespace taper::vulkan
