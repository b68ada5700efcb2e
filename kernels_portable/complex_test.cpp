// Cases of complex tensors that PyTorch computed, over the operators that take them.

#include "kernels_portable/complex.h"

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Complex, AgreesWithPyTorch) { taper::test::run_op_cases("complex"); }

TEST(Complex, OnlyKernelsThatSaySoTakeIt) {
  using namespace taper;
  int32_t size = 1, stride = 1;
  uint8_t order = 0;
  double data[2] = {};
  Tensor tensor(ScalarType::kComplexFloat, 1, &size, &order, &stride, data);
  const EValue value(&tensor);
  const KernelTable table = portable::portable_kernels();
  EXPECT_TRUE(accepts(find_kernel(table, "aten::add.out")->args[0], value));
  EXPECT_FALSE(accepts(find_kernel(table, "aten::relu.out")->args[0], value));
}
