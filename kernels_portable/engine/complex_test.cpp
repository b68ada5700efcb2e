// Which kernels take complex tensors.

#include "kernels_portable/engine/complex.h"

#include <gtest/gtest.h>

#include "kernels_portable/kernel_table.h"
#include "taper/kernel.h"

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
