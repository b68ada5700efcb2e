// Cases of op_bitwise_or that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(BitwiseOr, AgreesWithPyTorch) { taper::test::run_op_cases("op_bitwise_or"); }
