// Tests products in float16 (--precision=f16): how far results may be off follows from the precision
// of float16. A factor that is rounded is off by 2^-10 of itself at most, whichever way a driver
// rounds, so a sum of products is off by a little more than 2^-9 of the sum of their sizes; that sum
// the portable kernels compute, from the sizes of all numbers. What rounds to the nearest number is
// off by half of that, which leaves room for a sum that is rounded as well.

#include <cmath>
#include <random>

#include "test/backends/backend_test.h"

namespace taper::test {
namespace {

constexpr float kBound = 0x1.1p-9F;
constexpr float kSmallest = 0x1p-20F;  // What else is off: small factors and float32 sums.

// A graph of one input %x and one result. "#6" stands for six constants.
struct HalfCase {
  const char* name;
  std::vector<int32_t> input;
  const char* body;
};

const HalfCase kCases[] = {
    {"linear", {5, 20}, R"(input %x: float32[5, 20]
  constant %w: float32[12, 20] = #240
  constant %b: float32[12] = #12
  %y: float32[5, 12] = aten::linear(%x, %w, %b))"},
    {"of one row", {1, 64}, R"(input %x: float32[1, 64]
  constant %w: float32[70, 64] = #4480
  constant %b: float32[70] = #70
  %y: float32[1, 70] = aten::linear(%x, %w, %b))"},
    {"of one row of odd length", {2, 37}, R"(input %x: float32[2, 37]
  constant %w: float32[9, 37] = #333
  %y: float32[2, 9] = aten::linear(%x, %w, None))"},
    {"mm", {40, 33}, R"(input %x: float32[40, 33]
  constant %w: float32[33, 70] = #2310
  %y: float32[40, 70] = aten::mm(%x, %w))"},
    {"of the same weights twice", {12, 12}, R"(input %x: float32[12, 12]
  constant %w: float32[12, 12] = #144
  %a: float32[12, 12] = aten::mm(%x, %w)
  %y: float32[12, 12] = aten::linear(%a, %w, None))"},
    {"of a constant and an input", {33, 6}, R"(input %x: float32[33, 6]
  constant %w: float32[7, 33] = #231
  %y: float32[7, 6] = aten::mm(%w, %x))"},
    {"of inputs", {3, 6, 6}, R"(input %x: float32[3, 6, 6]
  %y: float32[3, 6, 6] = aten::bmm(%x, %x))"},
    {"of batches", {3, 6, 9}, R"(input %x: float32[3, 6, 9]
  constant %w: float32[3, 9, 10] = #270
  %y: float32[3, 6, 10] = aten::bmm(%x, %w))"},
    {"addmm", {6, 24}, R"(input %x: float32[6, 24]
  constant %w: float32[24, 8] = #192
  constant %b: float32[8] = #8
  %y: float32[6, 8] = aten::addmm(%b, %x, %w, 1, 1))"},
    {"convolution", {2, 5, 9, 7}, R"(input %x: float32[2, 5, 9, 7]
  constant %w: float32[6, 5, 3, 3] = #270
  constant %b: float32[6] = #6
  %c: float32[2, 6, 5, 7] = aten::convolution(%x, %w, %b, [2, 1], [1, 1], [1, 1], False, [0, 0], 1)
  %y: float32[2, 6, 5, 7] = aten::relu(%c))"},
    {"convolution of one pixel", {1, 40, 8, 8}, R"(input %x: float32[1, 40, 8, 8]
  constant %w: float32[24, 40, 1, 1] = #960
  %y: float32[1, 24, 8, 8] = aten::convolution(%x, %w, None,
      [1, 1], [0, 0], [1, 1], False, [0, 0], 1))"},
    {"convolution of groups", {1, 16, 6, 6}, R"(input %x: float32[1, 16, 6, 6]
  constant %w: float32[12, 8, 3, 3] = #864
  %y: float32[1, 12, 6, 6] = aten::convolution(%x, %w, None,
      [1, 1], [1, 1], [1, 1], False, [0, 0], 2))"},
    {"convolution of each channel", {1, 6, 6, 6}, R"(input %x: float32[1, 6, 6, 6]
  constant %w: float32[6, 1, 3, 3] = #54
  %y: float32[1, 6, 6, 6] = aten::convolution(%x, %w, None,
      [1, 1], [1, 1], [1, 1], False, [0, 0], 6))"},
    {"transposed convolution", {1, 6, 4, 4}, R"(input %x: float32[1, 6, 4, 4]
  constant %w: float32[6, 5, 3, 3] = #270
  %y: float32[1, 5, 9, 9] = aten::convolution(%x, %w, None,
      [2, 2], [0, 0], [1, 1], True, [0, 0], 1))"},
    {"convolution of a line", {1, 8, 30}, R"(input %x: float32[1, 8, 30]
  constant %w: float32[4, 8, 5] = #160
  %y: float32[1, 4, 13] = aten::convolution(%x, %w, None, [2], [0], [1], False, [0], 1))"},
};

enum class Sizes { kOfNumbers, kAbsolute };

// The body as a graph, with the same constants each time.
std::string graph_of(const HalfCase& c, Sizes sizes) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  std::string text = "graph \"forward\" {\n  ";
  for (const char* at = c.body; *at != 0;) {
    if (*at != '#') {
      text += *at++;
      continue;
    }
    char* end = nullptr;
    const long count = std::strtol(at + 1, &end, 10);
    for (long i = 0; i < count; ++i) {
      const float value = normal(random);
      text += (i == 0 ? "{" : ", ") +
              std::to_string(sizes == Sizes::kAbsolute ? std::fabs(value) : value);
    }
    text += "}";
    at = end;
  }
  return text + "\n  return %y\n}";
}

std::vector<float> input_of(const HalfCase& c, Sizes sizes) {
  std::mt19937 random(8);
  std::normal_distribution<float> normal;
  size_t count = 1;
  for (const int32_t size : c.input) count *= static_cast<size_t>(size);
  std::vector<float> values(count);
  for (float& value : values) {
    value = normal(random);
    if (sizes == Sizes::kAbsolute) value = std::fabs(value);
  }
  return values;
}

std::vector<float> run(const HalfCase& c, Sizes sizes, const std::string& backends,
                       const std::vector<Backend>& table) {
  DelegatedProgram program(lower_for(backends, graph_of(c, sizes)).emit(), table);
  const std::vector<float> values = input_of(c, sizes);
  FloatTensor x(c.input, values);
  const std::vector<EValue> outputs = program.run({x.value()});
  EXPECT_EQ(outputs.size(), 1u) << c.name << ": " << program.error();
  return outputs.empty() ? std::vector<float>() : floats_of(outputs[0]);
}

class HalfProducts : public BackendTest {
 protected:
  bool has_half() const { return !subject().compiler->half_option.empty(); }
  // Whether conformance.txt gives float16 a tolerance; others compare by the kernels' numbers.
  bool sums_in_half() const { return subject().expected.half > 0; }
  std::string in_half() const {
    return subject().name + ":" + std::string(subject().compiler->half_option) + "=1";
  }
};

TEST_P(HalfProducts, AreOffByNoMoreThanTheirFactors) {
  if (!has_half()) GTEST_SKIP() << "it does not compute in float16";
  for (const HalfCase& c : kCases) {
    const std::vector<float> exact = run(c, Sizes::kOfNumbers, "portable", {});
    const std::vector<float> sizes = run(c, Sizes::kAbsolute, "portable", {});
    const std::vector<float> got =
        run(c, Sizes::kOfNumbers, in_half(), {backend_of(subject(), device())});
    ASSERT_EQ(got.size(), exact.size()) << c.name;
    for (size_t i = 0; i < got.size(); ++i) {
      // Two products, one of which reads the other, are off twice.
      ASSERT_LE(std::fabs(got[i] - exact[i]), 2 * kBound * sizes[i] + kSmallest)
          << c.name << ", element " << i << ": " << got[i] << " for " << exact[i];
    }
  }
}

// The numbers with which an export says how far results are off.
TEST_P(HalfProducts, AreRoundedForComparisonWhereTheyHaveFactors) {
  if (!has_half()) GTEST_SKIP() << "it does not compute in float16";
  if (!can_round(subject())) GTEST_SKIP() << "it has no float16 for this processor";
  const std::unique_ptr<Device> as_kernels = make_device(subject(), 1, Numbers::kExact);
  const std::unique_ptr<Device> as_device = make_device(subject(), 1, Numbers::kRounded);
  for (const HalfCase& c : kCases) {
    const std::vector<float> exact = run(c, Sizes::kOfNumbers, "portable", {});
    const std::vector<float> sizes = run(c, Sizes::kAbsolute, "portable", {});
    const std::vector<float> kept =
        run(c, Sizes::kOfNumbers, in_half(), {backend_of(subject(), *as_kernels)});
    const std::vector<float> rounded =
        run(c, Sizes::kOfNumbers, in_half(), {backend_of(subject(), *as_device)});
    ASSERT_EQ(kept.size(), exact.size()) << c.name;
    ASSERT_EQ(rounded.size(), exact.size()) << c.name;
    for (size_t i = 0; i < rounded.size(); ++i) {
      ASSERT_LE(std::fabs(kept[i] - exact[i]), kSmallest * (1 + sizes[i]))
          << c.name << ", element " << i;
      ASSERT_LE(std::fabs(rounded[i] - exact[i]), 2 * kBound * sizes[i] + kSmallest)
          << c.name << ", element " << i;
    }
    const bool has_products = std::string(c.name) != "convolution of each channel";
    if (sums_in_half()) {  // It compares by itself, and rounds every result.
      EXPECT_NE(rounded, kept) << c.name;
    } else {
      EXPECT_EQ(kept, exact) << c.name;
      EXPECT_EQ(rounded != exact, has_products) << c.name;
    }
  }
}

// Scores are off by no more than `kOff`, and so weights by no more than twice that and their own
// rounding. The numbers stand for each other: all are below 1.
TEST_P(HalfProducts, OfAttentionAreOffByNoMoreThanTheirFactors) {
  if (!has_half()) GTEST_SKIP() << "it does not compute in float16";
  if (!can_round(subject())) GTEST_SKIP() << "it has no float16 for this processor";
  constexpr size_t kDepth = 20;
  constexpr float kOff = 0x1.1p-10F * 2 * kDepth * 0.23F;  // Of a scale of 1 / sqrt(kDepth).
  const std::unique_ptr<Device> as_device = make_device(subject(), 1, Numbers::kRounded);
  std::mt19937 random(9);
  std::uniform_real_distribution<float> uniform(-1, 1);
  const auto constant = [&](const char* name, const char* sizes, size_t count) {
    std::string text = std::string("constant %") + name + ": float32[" + sizes + "] = {";
    for (size_t i = 0; i < count; ++i) {
      text += (i == 0 ? "" : ", ") + std::to_string(uniform(random));
    }
    return text + "}\n  ";
  };
  std::string text = "graph \"forward\" {\n  input %q: float32[1, 3, 70, 20]\n  ";
  text += constant("k", "1, 3, 70, 20", 4200) + constant("v", "1, 3, 70, 12", 2520);
  text += constant("m", "70, 70", 4900);
  text += "%y: float32[1, 3, 70, 12] = aten::scaled_dot_product_attention(%q, %k, %v, %m, 0.0, ";
  text += "False, None, False)\n  return %y\n}";
  std::vector<float> values(4200);
  for (float& value : values) value = uniform(random);
  const auto run_on = [&](const std::string& backends, const std::vector<Backend>& table) {
    DelegatedProgram program(lower_for(backends, text).emit(), table);
    FloatTensor q({1, 3, 70, 20}, values);
    const std::vector<EValue> outputs = program.run({q.value()});
    EXPECT_EQ(outputs.size(), 1u) << program.error();
    return outputs.empty() ? std::vector<float>() : floats_of(outputs[0]);
  };
  const std::vector<float> exact = run_on("portable", {});
  const std::vector<float> got = run_on(in_half(), {backend_of(subject(), device())});
  const std::vector<float> rounded = run_on(in_half(), {backend_of(subject(), *as_device)});
  ASSERT_EQ(got.size(), exact.size());
  ASSERT_EQ(rounded.size(), exact.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_LE(std::fabs(got[i] - exact[i]), 2 * kOff + 2 * kBound) << "element " << i;
    // That one rounds no weights.
    ASSERT_LE(std::fabs(got[i] - rounded[i]), kBound + kSmallest) << "element " << i;
  }
  EXPECT_NE(got, exact);
  EXPECT_NE(rounded, exact);
}

INSTANTIATE_TEST_SUITE_P(Suite, HalfProducts, testing::ValuesIn(all_subjects()), subject_name);

}  // namespace
}  // namespace taper::test
