// Cases of op_bitwise_not that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(BitwiseNot, AgreesWithPyTorch) { taper::test::run_op_cases("op_bitwise_not"); }
