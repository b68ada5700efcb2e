// gelu at infinity, where PyTorch's vectorised code yields NaN and the limit is expected here.

#include <gtest/gtest.h>

#include <limits>

#include "test/support/op_cases.h"
#include "test/support/test_tensor.h"

namespace taper::portable {
extern const Kernel kGeluOut;
namespace {

TEST(Gelu, OfInfinityIsInfinity) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  for (const char* approximate : {"none", "tanh"}) {
    test::TestTensor in = test::TestTensor::of<float>(ScalarType::kFloat, {2}, {kInf, 6.0f});
    test::TestTensor out(ScalarType::kFloat, {2});
    EValue slots[] = {EValue(&*in), EValue(approximate, 4), EValue(&*out)};
    EValue* args[] = {&slots[0], &slots[1], &slots[2]};
    KernelContext context;
    ASSERT_TRUE(kGeluOut.run(context, args).ok());
    EXPECT_EQ(out.values<float>(), (std::vector<float>{kInf, 6.0f}));
  }
}

}  // namespace
}  // namespace taper::portable
