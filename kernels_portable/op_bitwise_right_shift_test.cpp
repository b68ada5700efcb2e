// Cases of op_bitwise_right_shift that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(BitwiseRightShift, AgreesWithPyTorch) { taper::test::run_op_cases("op_bitwise_right_shift"); }
