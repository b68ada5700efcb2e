// Cases of op_fast_hadamard_transform that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(FastHadamardTransform, AgreesWithPyTorch) {
  taper::test::run_op_cases("op_fast_hadamard_transform");
}
