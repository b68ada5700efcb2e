// Cases of op_max_pool2d_with_indices that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(MaxPool2dWithIndices, AgreesWithPyTorch) {
  taper::test::run_op_cases("op_max_pool2d_with_indices");
}
