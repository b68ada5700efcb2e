// Cases of op_upsample_bilinear2d_aa that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(UpsampleBilinear2dAa, AgreesWithPyTorch) {
  taper::test::run_op_cases("op_upsample_bilinear2d_aa");
}
