// Tests the kernels against PyTorch's numbers.

#include "backends/vulkan/runtime/cpu_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>

#include "test/support/test_tensor.h"

namespace taper::vulkan {
namespace {

using test::TestTensor;
using Floats = std::vector<float>;

constexpr float kNan = NAN;

// The arguments of one call.
class Arguments {
 public:
  Arguments& tensor(std::vector<int32_t> sizes, const Floats& values) {
    TestTensor& made = tensors_.emplace_back(ScalarType::kFloat, std::move(sizes));
    std::copy(values.begin(), values.end(), made->mutable_data_ptr<float>());
    return add(EValue(&*made));
  }
  Arguments& mask(std::vector<int32_t> sizes, const std::vector<bool>& values) {
    TestTensor& made = tensors_.emplace_back(ScalarType::kBool, std::move(sizes));
    std::copy(values.begin(), values.end(), made->mutable_data_ptr<bool>());
    return add(EValue(&*made));
  }
  template <typename T>
  Arguments& integers(ScalarType dtype, std::vector<int32_t> sizes, const std::vector<T>& values) {
    TestTensor& made = tensors_.emplace_back(dtype, std::move(sizes));
    std::copy(values.begin(), values.end(), made->mutable_data_ptr<T>());
    return add(EValue(&*made));
  }
  Arguments& integer(int64_t value) { return add(EValue(value)); }
  Arguments& none() { return add(EValue()); }
  Arguments& real(double value) { return add(EValue(value)); }
  Arguments& flag(bool value) { return add(EValue(value)); }
  Arguments& ints(const std::vector<int64_t>& items) {
    std::vector<EValue*>& pointers = pointers_.emplace_back();
    for (const int64_t item : items) pointers.push_back(&items_.emplace_back(item));
    lists_.push_back({pointers.data(), unboxed_.emplace_back(items.size()).data()});
    return add(EValue(&lists_.back(), static_cast<uint32_t>(items.size())));
  }

  // What the kernel writes to a result of at most those sizes; empty if it fails.
  Floats run(const char* name, std::vector<int32_t> sizes) {
    TestTensor out(ScalarType::kFloat, std::move(sizes), {}, ShapeDynamism::kDynamicBound);
    add(EValue(&*out));
    const Kernel* kernel = find_cpu_kernel(name);
    EXPECT_NE(kernel, nullptr) << name;
    if (kernel == nullptr) return {};
    EXPECT_EQ(kernel->arg_count, args_.size()) << name;
    for (size_t i = 0; i < args_.size(); ++i) {
      EXPECT_TRUE(accepts(kernel->args[i], *args_[i])) << name << ", argument " << i;
    }
    KernelContext context;
    const Status status = kernel->run(context, args_.data());
    problem = status.message();
    return status.ok() ? out.values<float>() : Floats();
  }

  std::string problem;

 private:
  Arguments& add(EValue value) {
    args_.push_back(&items_.emplace_back(value));
    return *this;
  }

  std::deque<TestTensor> tensors_;
  std::deque<EValue> items_;
  std::deque<std::vector<EValue*>> pointers_;
  std::deque<std::vector<int64_t>> unboxed_;
  std::deque<BoxedIntList> lists_;
  std::vector<EValue*> args_;
};

void expect_near(const Floats& got, const Floats& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(wanted[i])) {
      EXPECT_TRUE(std::isnan(got[i])) << i;
    } else {
      EXPECT_NEAR(got[i], wanted[i], 2e-6) << i;
    }
  }
}

const Floats kNumbers = {-2, -0.5, 0, 0.25, 7, kNan};

Floats map(const char* name, const std::vector<double>& scalars = {}) {
  Arguments args;
  args.tensor({6}, kNumbers);
  for (const double scalar : scalars) args.real(scalar);
  return args.run(name, {6});
}

TEST(CpuKernels, OfOneNumber) {
  expect_near(map("vulkan::relu6"), {0, 0, 0, 0.25, 6, kNan});
  expect_near(map("vulkan::mish"), {-0.252501F, -0.220744F, 0, 0.169572F, 6.999989F, kNan});
  expect_near(map("vulkan::softplus", {2, 4}),
              {0.009075F, 0.156631F, 0.346574F, 0.487038F, 7, kNan});
  expect_near(map("vulkan::hardshrink", {0.5}), {-2, 0, 0, 0, 7, kNan});
  expect_near(Arguments()
                  .tensor({2, 2, 2}, {-4, -3, -2, -1, 0, 1, 2, 3})
                  .tensor({2, 1}, {0.5, 0.25})
                  .run("vulkan::prelu", {2, 2, 2}),
              {-2, -1.5, -0.5, -0.25, 0, 1, 2, 3});
}

TEST(CpuKernels, Norms) {
  const Floats rows = {1, 2, 3, 4, -5, 6}, weight = {1, 2, 0.5};
  const Floats normalised = {0.46291F, 1.851638F, 0.694364F, 0.789542F, -1.973855F, 0.592156F};
  expect_near(Arguments()
                  .tensor({2, 3}, rows)
                  .ints({3})
                  .tensor({3}, weight)
                  .real(1e-5)
                  .run("vulkan::rms_norm", {2, 3}),
              normalised);
  expect_near(Arguments()
                  .tensor({2, 3}, rows)
                  .tensor({3}, weight)
                  .real(1e-5)
                  .run("vulkan::rms_norm_of_last", {2, 3}),
              normalised);
  expect_near(
      Arguments().tensor({2, 3}, rows).ints({2, 3}).none().none().run("vulkan::rms_norm", {2, 3}),
      {0.256776F, 0.513553F, 0.770329F, 1.027105F, -1.283882F, 1.540658F});
}

// Two heads of queries that share one of keys.
Arguments heads() {
  Arguments args;
  args.tensor({1, 2, 2, 2}, {1, 0, 0, 1, 2, 1, 1, 1})
      .tensor({1, 1, 3, 2}, {1, 1, 0, 2, 3, 0})
      .tensor({1, 1, 3, 2}, {1, 2, 3, 4, 5, 6});
  return args;
}

TEST(CpuKernels, Attention) {
  expect_near(
      heads().none().real(0).flag(false).none().flag(true).run("vulkan::attention", {1, 2, 2, 2}),
      {4.110622F, 5.110622F, 2.712068F, 3.712068F, 4.493032F, 5.493032F, 3.51047F, 4.510469F});
  expect_near(
      heads().none().real(0).flag(true).none().flag(true).run("vulkan::attention", {1, 2, 2, 2}),
      {1, 2, 2.339523F, 3.339523F, 1, 2, 2, 3});
  expect_near(heads()
                  .mask({2, 3}, {true, false, true, false, false, false})
                  .real(0.5)
                  .run("vulkan::sdpa", {1, 2, 2, 2}),
              {3.924234F, 4.924234F, 0, 0, 4.270298F, 5.270298F, 0, 0});
  expect_near(
      heads().tensor({1, 3}, {0, 1, -1}).none().run("vulkan::sdpa", {1, 2, 2, 2}),
      {3.266346F, 4.266346F, 2.755434F, 3.755434F, 3.764957F, 4.764956F, 2.886256F, 3.886256F});
}

TEST(CpuKernels, AttentionRefusesWhatDoesNotFit) {
  Arguments mask = heads();
  EXPECT_TRUE(mask.tensor({2, 2}, {0, 0, 0, 0}).none().run("vulkan::sdpa", {1, 2, 2, 2}).empty());
  EXPECT_EQ(mask.problem, "the mask does not broadcast");
  Arguments keys;
  keys.tensor({2, 2}, {0, 0, 0, 0}).tensor({2, 3}, Floats(6)).tensor({2, 2}, {0, 0, 0, 0});
  EXPECT_TRUE(keys.none().none().run("vulkan::sdpa", {2, 2}).empty());
  EXPECT_EQ(keys.problem, "its sizes do not fit together");
}

// torch.tensor(x).half().float(), but that a number beyond the range stays finite.
TEST(CpuKernels, RoundsToHalf) {
  constexpr float kInf = INFINITY;
  const Floats from = {0.1F,     1 + 0x1p-11F, 1 + 0x3p-11F, -65519, 1e9F, 0x1p-24F,
                       0x1p-25F, 0x3p-25F,     6.1e-5F,      -kInf,  kNan, -0.0F};
  const Floats wanted = {
      0.0999755859375F,       1,     1 + 0x1p-9F, -65504, 65504, 0x1p-24F, 0, 0x1p-23F,
      6.097555160522461e-05F, -kInf, kNan,        -0.0F};
  const Floats got = Arguments().tensor({12}, from).run("vulkan::round_to_half", {12});
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const bool both_nan = std::isnan(got[i]) && std::isnan(wanted[i]);
    EXPECT_TRUE(both_nan || got[i] == wanted[i]) << i << ": " << got[i];
  }
}

Arguments image() {
  Floats pixels;
  for (int i = 0; i < 20; ++i) pixels.push_back(i == 6 ? kNan : static_cast<float>(i));
  Arguments args;
  args.tensor({1, 4, 5}, pixels);
  return args;
}

TEST(CpuKernels, Pools) {
  expect_near(image().ints({2, 2}).ints({}).ints({0, 0}).ints({1, 1}).flag(true).run(
                  "vulkan::max_pool2d", {1, 2, 3}),
              {kNan, 8, 9, 16, 18, 19});
  expect_near(image().ints({3}).ints({1}).ints({1}).ints({2}).flag(false).run("vulkan::max_pool2d",
                                                                              {1, 2, 3}),
              {kNan, 19, kNan, 13, 14, 13});
  Arguments narrow;  // PyTorch: torch.nn.functional.max_pool2d(x, 2, ceil_mode=True)
  narrow.tensor({1, 3, 1}, {1, 3, 2}).ints({2}).ints({}).ints({0}).ints({1}).flag(true);
  expect_near(narrow.run("vulkan::max_pool2d", {1, 2, 1}), {3, 2});
  Arguments huge = image();
  EXPECT_TRUE(huge.ints({INT64_MAX})
                  .ints({1})
                  .ints({INT64_MAX})
                  .ints({1})
                  .flag(false)
                  .run("vulkan::max_pool2d", {1, 2, 3})
                  .empty());
}

const Floats kRows = {1, -2, 3, 0.5, -1, 2, 0.25, 4, 0, 1, 0, -1, 2, 0, 3, -0.5};
const std::vector<uint8_t> kFourBits = {0x12, 0x34, 0xf0, 0x8c, 0xff, 0x00,
                                        0x7a, 0x21, 0x99, 0xe1, 0x05, 0xb6};
const Floats kScalesByRow = {0.5, 2, 1, 0.125, 0.25, 1.5};

// The numbers are those of ExecuTorch's reference implementations.
TEST(CpuKernels, FourBitWeights) {
  const auto linear = [](const std::vector<int32_t>& scales, int64_t group) {
    return Arguments()
        .tensor({2, 8}, kRows)
        .integers(ScalarType::kByte, {3, 4}, kFourBits)
        .tensor(scales, {0.5, 1, 0.25, 2, 0.125, 1.5})
        .integer(group)
        .tensor({3}, {1, -1, 0.5})
        .run("vulkan::linear_q4gsw", {2, 3});
  };
  expect_near(linear({2, 3}, 4), {43.75, -39.71875, -6.5, -8, 12.25, -21});
  EXPECT_TRUE(linear({2, 3}, 2).empty());  // There are four groups then.
  EXPECT_TRUE(linear({2, 3}, 0).empty());
  EXPECT_TRUE(linear({3, 2}, 4).empty());
  const auto table = [](bool is_low_first, const std::vector<int64_t>& indices) {
    return Arguments()
        .integers(ScalarType::kByte, {3, 4}, kFourBits)
        .tensor({3, 2}, kScalesByRow)
        .integer(4)
        .integers(ScalarType::kLong, {2}, indices)
        .flag(is_low_first)
        .run("vulkan::embedding_q4gsw", {2, 8});
  };
  expect_near(table(true, {2, 0}),
              {0.25, 0.25, -1.75, 1.5, -4.5, -12, -3, 4.5, -3, -3.5, -2, -2.5, -16, 14, 8, 0});
  expect_near(table(false, {2, 0}),
              {0.25, 0.25, 1.5, -1.75, -12, -4.5, 4.5, -3, -3.5, -3, -2.5, -2, 14, -16, 0, 8});
  EXPECT_TRUE(table(true, {2, 3}).empty());
}

TEST(CpuKernels, EightBitWeights) {
  const std::vector<int8_t> weights = {1, -128, 127, 3, 0, -5, 7, 20, -1, 2, -3, 4, -5, 6, -7, 8};
  Arguments args;
  args.tensor({2, 8}, kRows).integers(ScalarType::kChar, {2, 8}, weights).tensor({2}, {0.5, 0.125});
  expect_near(args.tensor({2}, {1, 2}).run("vulkan::linear_q8csw", {2, 2}),
              {356.625, 6.40625, -59, -2.625});
}

TEST(CpuKernels, RotaryEmbeddings) {
  Floats x(16), halves(12), shifted(12), pairs(16);
  for (size_t i = 0; i < 16; ++i) {
    x[i] = static_cast<float>(i) / 4;
    pairs[i] = static_cast<float>(i) / 8;
    if (i < 12) halves[i] = static_cast<float>(i) / 8;
    if (i < 12) shifted[i] = 1 - halves[i];
  }
  expect_near(Arguments()
                  .tensor({1, 2, 8}, x)
                  .tensor({2, 8}, pairs)
                  .run("vulkan::apply_rotary_emb_interleaved", {1, 2, 8}),
              {-0.03125, 0, -0.15625, 0.375, -0.28125, 1.25, -0.40625, 2.625, -0.53125, 4.5,
               -0.65625, 6.875, -0.78125, 9.75, -0.90625, 13.125});
  // As apply_rotary_emb_hf with tables from row 1 on.
  const auto rows = [](const Floats& table) { return Floats(table.begin() + 4, table.end()); };
  expect_near(Arguments()
                  .tensor({1, 2, 2, 4}, x)
                  .tensor({2, 1, 4}, rows(halves))
                  .tensor({2, 1, 4}, rows(shifted))
                  .run("vulkan::rotate", {1, 2, 2, 4}),
              {-0.25, -0.125, 0.375, 0.6875, -0.25, 0.125, 1.375, 1.6875, 2, 2.875, 2.625, 2.9375,
               3, 4.125, 3.625, 3.9375});
}

TEST(CpuKernels, OfTheExporter) {
  const Floats six = {1, 2, 3, 4, 5, 6};
  expect_near(Arguments()
                  .tensor({2, 3}, six)
                  .integer(2)
                  .integer(1)
                  .none()
                  .run("vulkan::repeat_interleave", {2, 6}),
              {1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6});
  expect_near(Arguments()
                  .tensor({3}, {1, 2, 3})
                  .integer(2)
                  .none()
                  .integer(6)
                  .run("vulkan::repeat_interleave", {6}),
              {1, 1, 2, 2, 3, 3});
  Arguments often;
  EXPECT_TRUE(often.tensor({2}, {1, 2})
                  .integer(INT64_MAX)
                  .none()
                  .none()
                  .run("vulkan::repeat_interleave", {2})
                  .empty());
  EXPECT_EQ(often.problem, "it repeats too often");
  expect_near(
      Arguments().tensor({1, 2, 3}, six).integer(4).real(0.5).run("vulkan::grid_points", {6, 2}),
      {2, 2, 6, 2, 10, 2, 2, 6, 6, 6, 10, 6});
  expect_near(Arguments()
                  .tensor({2, 3}, six)
                  .tensor({2, 2}, {1, -1, 2, 0})
                  .run("vulkan::linear_dw", {3, 2}),
              {9, -1, 12, -2, 15, -3});
}

TEST(CpuKernels, ConvolutionsOfLines) {
  const Floats line = {1, 2, 3, 4, 5, 6, 7, 8};
  const auto by_channel = [&](Arguments& args) -> Arguments& {
    return args.tensor({1, 2, 4}, line).tensor({2, 1, 3}, {1, 0, -1, 1, 1, 1}).tensor({2}, {0, 1});
  };
  Arguments args;
  expect_near(by_channel(args).ints({1}).ints({1}).ints({1}).integer(2).real(-1.5).real(20).run(
                  "vulkan::conv1d", {1, 2, 4}),
              {-1.5, -1.5, -1.5, 3, 12, 19, 20, 16});
  Arguments wide;
  EXPECT_TRUE(by_channel(wide)
                  .ints({1})
                  .ints({0})
                  .ints({1000})
                  .integer(2)
                  .none()
                  .none()
                  .run("vulkan::conv1d", {1, 2, 4})
                  .empty());
  EXPECT_EQ(wide.problem, "its window is larger than the line");
}

}  // namespace
}  // namespace taper::vulkan
