// The distributions of random numbers; only their sizes can be compared with PyTorch, in the cases.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"
#include "test/support/test_tensor.h"

namespace taper::portable {
namespace {

using test::TestTensor;

// 10,000 numbers from the kernel `name`.
std::vector<float> draw(const char* name) {
  TestTensor out(ScalarType::kFloat, {10000});
  EValue count(int64_t{10000});
  EValue* item = &count;
  int64_t scratch = 0;
  BoxedIntList list = {&item, &scratch};
  EValue size(&list, 1), result(&*out);
  EValue* args[] = {&size, &result};
  KernelContext context;
  const Kernel* kernel = find_kernel(portable_kernels(), name);
  EXPECT_TRUE(kernel != nullptr && kernel->run(context, args).ok());
  return out.values<float>();
}

struct Moments {
  double mean, variance;
};

Moments moments(const std::vector<float>& values) {
  double sum = 0;
  double squares = 0;
  for (float value : values) {
    sum += value;
    squares += double{value} * value;
  }
  const double count = static_cast<double>(values.size());
  return {sum / count, squares / count - sum / count * (sum / count)};
}

TEST(Rand, IsUniformFromZeroToBelowOne) {
  const std::vector<float> values = draw("aten::rand.out");
  for (float value : values) {
    ASSERT_GE(value, 0);
    ASSERT_LT(value, 1);
  }
  EXPECT_NEAR(moments(values).mean, 0.5, 0.02);
  EXPECT_NEAR(moments(values).variance, 1.0 / 12, 0.01);
}

TEST(Randn, IsNormal) {
  const std::vector<float> values = draw("aten::randn.out");
  EXPECT_NEAR(moments(values).mean, 0, 0.05);
  EXPECT_NEAR(moments(values).variance, 1, 0.05);
}

TEST(Rand, EveryCallYieldsTheSame) { EXPECT_EQ(draw("aten::rand.out"), draw("aten::rand.out")); }

}  // namespace
}  // namespace taper::portable
