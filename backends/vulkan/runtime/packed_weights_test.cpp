// Products with weights of 4 and 8 bits for more rows than are multiplied by packed weights as they
// are, on lavapipe and on the kernels. All numbers are small multiples of powers of two, which
// float16 holds, too, so results are exact.

#include <gtest/gtest.h>

#include "backends/vulkan/runtime/gpu/backend_for_test.h"

namespace taper::vulkan {
namespace {

using test::TestTensor;

constexpr int32_t kRows = 6, kColumns = 5, kLength = 16;
constexpr uint32_t kColumnCount = kColumns;

int weight_at(int column, int at) { return (column * 7 + at * 5) % 16 - 8; }
float scale_at(int column, int at, int group) {
  return (column + at / group) % 2 == 0 ? 0.5F : 0.25F;
}

struct PackedCase {
  const char* op;
  int bits;
  int group;        // Columns of weights with one scale.
  bool high_first;  // Of the two in a byte.
};

class PackedProducts : public testing::TestWithParam<const char*> {
 protected:
  void check(const PackedCase& c, bool in_half) {
    PayloadBuilder p;
    const auto x = p.input({kRows, kLength}), y = p.tensor({kRows, kColumns});
    const auto w = weights(c, p), s = scales(c, p);
    std::vector<Id> args = {x, w, s};
    const std::string op = c.op;
    if (op == "et_vk.linear_q4gsw.default") args.push_back(p.integer(c.group));
    if (op != "et_vk.linear_qcs4w.default") args.push_back(p.none());
    args.push_back(y);
    p.call(c.op, args);
    p.output(y);
    VulkanOptions options;
    options.device = GetParam();
    VulkanBackend backend(options);
    LoadedPayload loaded(backend, {}, p.finish(), in_half);
    if (loaded.status.error() == Error::kNotFound) GTEST_SKIP() << "lavapipe is not installed";
    ASSERT_STREQ(loaded.status.message(), "");
    TestTensor given(ScalarType::kFloat, {kRows, kLength});
    TestTensor out(ScalarType::kFloat, {kRows, kColumns});
    const auto x_at = [](int i) { return static_cast<float>(i * 3 % 17 - 8) * 0.5F; };
    for (int i = 0; i < kRows * kLength; ++i) given->mutable_data_ptr<float>()[i] = x_at(i);
    ASSERT_STREQ(loaded.run(given, out).message(), "");
    for (int row = 0; row < kRows; ++row) {
      for (int column = 0; column < kColumns; ++column) {
        float sum = 0;
        for (int at = 0; at < kLength; ++at) {
          sum += x_at(row * kLength + at) * static_cast<float>(weight_at(column, at)) *
                 scale_at(column, at, c.group);
        }
        EXPECT_EQ(out->const_data_ptr<float>()[row * kColumns + column], sum)
            << op << ", group " << c.group << ", half " << in_half << ", row " << row << ", column "
            << column;
      }
    }
  }

 private:
  using Id = decltype(std::declval<PayloadBuilder>().none());

  static Id weights(const PackedCase& c, PayloadBuilder& p) {
    std::vector<uint8_t> bytes;
    for (int column = 0; column < kColumns; ++column) {
      for (int at = 0; at < kLength; at += 8 / c.bits) {
        if (c.bits == 8) {
          bytes.push_back(static_cast<uint8_t>(weight_at(column, at)));
          continue;
        }
        const int even = weight_at(column, at) + 8, odd = weight_at(column, at + 1) + 8;
        bytes.push_back(static_cast<uint8_t>(c.high_first ? even << 4 | odd : odd << 4 | even));
      }
    }
    const auto dtype = c.bits == 8 ? wire::DataType::Int8 : wire::DataType::UInt8;
    return p.bytes({kColumnCount, static_cast<uint32_t>(kLength * c.bits / 8)}, dtype, bytes);
  }

  // [groups, columns], or [columns].
  static Id scales(const PackedCase& c, PayloadBuilder& p) {
    std::vector<float> values;
    for (int at = 0; at < kLength; at += c.group) {
      for (int column = 0; column < kColumns; ++column) {
        values.push_back(scale_at(column, at, c.group));
      }
    }
    const auto groups = static_cast<uint32_t>(kLength / c.group);
    if (c.bits == 4 && !c.high_first) return p.constant({groups, kColumnCount}, values);
    return p.constant({kColumnCount}, values);
  }
};

TEST_P(PackedProducts, AreExact) {
  for (const bool in_half : {false, true}) {
    check({"et_vk.linear_q4gsw.default", 4, 8, false}, in_half);
    check({"et_vk.linear_q4gsw.default", 4, 4, false}, in_half);
    check({"et_vk.linear_qcs4w.default", 4, kLength, true}, in_half);
    check({"et_vk.linear_q8csw.default", 8, kLength, false}, in_half);
  }
}

INSTANTIATE_TEST_SUITE_P(All, PackedProducts, testing::Values("llvmpipe", "none"));

}  // namespace
}  // namespace taper::vulkan
