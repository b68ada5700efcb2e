// Operators of integers that no committed file of ExecuTorch's has, on lavapipe and on the kernels,
// against PyTorch's numbers and sums of integers.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "backends/vulkan/runtime/gpu/backend_for_test.h"

namespace taper::vulkan {
namespace {

using test::TestTensor;

class IntegerPayloads : public testing::TestWithParam<const char*> {
 protected:
  // Runs a payload of one input and one output; a test is skipped without its device.
  void run(const std::vector<uint8_t>& payload, TestTensor& x, TestTensor& y) {
    VulkanOptions options;
    options.device = GetParam();
    VulkanBackend backend(options);
    LoadedPayload loaded(backend, {}, payload);
    if (loaded.status.error() == Error::kNotFound) GTEST_SKIP() << "lavapipe is not installed";
    ASSERT_STREQ(loaded.status.message(), "");
    ASSERT_STREQ(loaded.run(x, y).message(), "");
    has_run = true;
  }

  bool has_run = false;
};

// x becomes integers by rows, with scales that are chosen for each, and numbers again.
TEST_P(IntegerPayloads, RowsAreRoundedAsTorchaoDoes) {
  PayloadBuilder p;
  const auto x = p.input({2, 4}), none = p.none(), block = p.integers({1, 4});
  const auto scales = p.tensor({2}), zeros = p.tensor({2}, wire::DataType::Int32);
  const auto integers = p.tensor({2, 4}, wire::DataType::Int8), y = p.tensor({2, 4});
  const auto least = p.integer(-128), most = p.integer(127);
  p.call("torchao.choose_qparams_affine.default",
         {x, p.text("ASYMMETRIC"), block, none, least, most, p.real(1e-6), none, none,
          p.flag(false), p.list({scales, zeros})});
  p.call("torchao.quantize_affine.default", {x, block, scales, zeros, none, least, most, integers});
  p.call("torchao.dequantize_affine.default",
         {integers, block, scales, zeros, none, none, none, none, y});
  p.output(y);
  auto given = TestTensor::of<float>(ScalarType::kFloat, {2, 4},
                                     {0.5F, -1.25F, 2, 0.3F, -3, -0.1F, 0.7F, 1.1F});
  TestTensor out(ScalarType::kFloat, {2, 4});
  run(p.finish(), given, out);
  if (!has_run) return;
  const std::vector<float> expected = {0.49705884F, -1.2490196F,  2.0009804F, 0.30588236F,
                                       -3.0066667F, -0.09647059F, 0.7074510F, 1.0933333F};
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(out.values<float>()[i], expected[i], 1e-6) << i;
  }
}

// (x - 3) / 2 times weights with scales, and a bias; the input may be integers or floats.
TEST_P(IntegerPayloads, ALinearLayerOfIntegersMayMakeFloats) {
  for (const bool is_float : {false, true}) {
    PayloadBuilder p;
    const auto dtype = is_float ? wire::DataType::Float32 : wire::DataType::Int8;
    const auto x = p.tensor({2, 4}, dtype), y = p.tensor({2, 2});
    p.inputs.push_back(static_cast<uint32_t>(x));
    const auto weights = p.signed_bytes({2, 4}, {1, -2, 3, 4, -128, 127, 0, 5});
    const auto scales = p.constant({4}, {0.5, 2, 0, 0}), bias = p.constant({4}, {1, -1, 0, 0});
    p.call("et_vk.linear_q8ta_q8csw.default",
           {x, p.real(0.5), p.integer(3), weights, scales, scales, bias, y});
    p.output(y);
    TestTensor out(ScalarType::kFloat, {2, 2});
    auto bytes = TestTensor::of<int8_t>(ScalarType::kChar, {2, 4}, {3, 5, 7, -1, 13, 3, 3, 3});
    auto floats =
        TestTensor::of<float>(ScalarType::kFloat, {2, 4}, {0, 1, 2, -2, 5.1F, 0.2F, -0.2F, 0});
    run(p.finish(), is_float ? floats : bytes, out);
    if (!has_run) return;
    // 0 1 2 -2 and 5 0 0 0: -4 and 117, 5 and -640.
    EXPECT_EQ(out.values<float>(), (std::vector<float>{-1, 233, 3.5, -1281}));
  }
}

// Rows that are quantised with a scale that is found when they come, or with one that is stated,
// times weights of bytes: sums of integers, times both scales.
TEST_P(IntegerPayloads, RowsOfIntegersTimesBytes) {
  constexpr int kRows = 37, kColumns = 19;
  for (const bool is_stated : {false, true}) {
    for (const int k : {1, 6, 64, 132, 700, 5000}) {
      const auto sizes = [](int rows, int columns) {
        return PayloadBuilder::Sizes{static_cast<uint32_t>(rows), static_cast<uint32_t>(columns)};
      };
      std::vector<int8_t> weights;
      for (int i = 0; i < kColumns * k; ++i)
        weights.push_back(static_cast<int8_t>(i * 37 % 255 - 127));
      PayloadBuilder p;
      const auto x = p.input(sizes(kRows, k)), none = p.none();
      const auto q = p.tensor(sizes(kRows, k), wire::DataType::Int8);
      const auto numbers = p.tensor(sizes(kRows, k)), y = p.tensor(sizes(kRows, kColumns));
      const auto least = p.integer(-128), most = p.integer(127);
      auto scale = p.real(0.25), zero = p.integer(-128);
      if (!is_stated) {
        const bool is_narrow = k % 4 == 0;  // Programs of PyTorch's have float64.
        scale = p.tensor({1}, is_narrow ? wire::DataType::Float32 : wire::DataType::Float64);
        zero = p.tensor({1}, is_narrow ? wire::DataType::Int32 : wire::DataType::Int64);
        p.call("quantized_decomposed.choose_qparams.tensor",
               {x, least, most, p.real(1e-6), none, p.list({scale, zero})});
      }
      const std::string suffix = is_stated ? "default" : "tensor";
      p.call(("quantized_decomposed.quantize_per_tensor." + suffix).c_str(),
             {x, scale, zero, least, most, none, q});
      p.call(("quantized_decomposed.dequantize_per_tensor." + suffix).c_str(),
             {q, scale, zero, least, most, none, none, numbers});
      const auto scales = p.constant({kColumns}, std::vector<float>(kColumns, 0.5F));
      p.call("et_vk.linear_q8csw.default",
             {numbers, p.signed_bytes(sizes(kColumns, k), weights), scales, none, y});
      p.output(y);
      // From 0 to 63.75 in steps of 0.25, so that scale and zero point are the stated ones.
      TestTensor given(ScalarType::kFloat, {kRows, k}), out(ScalarType::kFloat, {kRows, kColumns});
      const auto steps_at = [&](int row, int at) {
        return row == 0 && at == 0 ? 255 : (row * k + at) * 11 % 256;
      };
      for (int i = 0; i < kRows * k; ++i) {
        given->mutable_data_ptr<float>()[i] = static_cast<float>(steps_at(i / k, i % k)) * 0.25F;
      }
      run(p.finish(), given, out);
      if (!has_run) return;
      for (int row = 0; row < kRows; ++row) {
        for (int column = 0; column < kColumns; ++column) {
          int sum = 0;
          const int8_t* of_column = &weights[static_cast<size_t>(column) * static_cast<size_t>(k)];
          for (int at = 0; at < k; ++at) sum += steps_at(row, at) * of_column[at];
          EXPECT_EQ(out->const_data_ptr<float>()[row * kColumns + column],
                    static_cast<float>(sum) * 0.125F)
              << "k " << k << ", row " << row << ", column " << column;
        }
      }
    }
  }
}

// Numbers between two integers become the even one; what is no number, the least.
TEST_P(IntegerPayloads, NumbersAreRoundedToEven) {
  PayloadBuilder p;
  const auto x = p.input({8}), y = p.tensor({8}, wire::DataType::Int8);
  p.call("quantized_decomposed.quantize_per_tensor.default",
         {x, p.real(0.5), p.integer(-1), p.integer(-100), p.integer(127), p.none(), y});
  p.output(y);
  auto given = TestTensor::of<float>(ScalarType::kFloat, {8},
                                     {0.25F, 0.75F, -0.25F, 1e30F, -1e30F, NAN, 63.9F, 0});
  TestTensor out(ScalarType::kChar, {8});
  run(p.finish(), given, out);
  if (!has_run) return;
  EXPECT_EQ(out.values<int8_t>(), (std::vector<int8_t>{-1, 1, -1, 127, -100, -100, 127, -1}));
}

// Two numbers for each byte; the rows have scales, or one for all.
TEST_P(IntegerPayloads, BytesStandForNumbersOfATable) {
  for (const bool is_whole : {false, true}) {
    std::vector<float> table;
    for (int i = 0; i < 512; ++i) table.push_back(static_cast<float>(i * i) - 1000);
    const std::vector<uint8_t> bytes = {0, 1, 255, 128, 7, 40, 90, 3, 2, 4, 200, 201};
    const std::vector<float> each = {0.5F, -2};
    PayloadBuilder p;
    const auto x = p.input({2, 2, 6}), weights = p.tensor({2, 2, 6}), y = p.tensor({2, 2, 6});
    const auto scales = is_whole ? p.constant({1}, {0.25F}) : p.constant({2}, each);
    const auto codes = p.bytes({2, 2, 3}, wire::DataType::UInt8, bytes);
    p.call("taper.look_up.default", {codes, p.constant({256, 2}, table), scales, weights});
    p.call("aten.add.Tensor", {x, weights, p.integer(1), y});
    p.output(y);
    TestTensor given(ScalarType::kFloat, {2, 2, 6}), out(ScalarType::kFloat, {2, 2, 6});
    std::fill_n(given->mutable_data_ptr<float>(), 24, 1.0F);
    run(p.finish(), given, out);
    if (!has_run) return;
    for (size_t i = 0; i < 24; ++i) {
      const float scale = is_whole ? 0.25F : each[i / 6 % 2];
      EXPECT_EQ(out.values<float>()[i], 1 + table[bytes[i / 2] * 2U + i % 2] * scale) << i;
    }
  }
}

// The last is a GPU, if there is one, which may have matrix units for bytes.
INSTANTIATE_TEST_SUITE_P(All, IntegerPayloads, testing::Values("llvmpipe", "none", ""));

}  // namespace
}  // namespace taper::vulkan
