// Cases of op_constant_pad_nd that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(ConstantPadNd, AgreesWithPyTorch) { taper::test::run_op_cases("op_constant_pad_nd"); }
