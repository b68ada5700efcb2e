// Cases of op_bitwise_and that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(BitwiseAnd, AgreesWithPyTorch) { taper::test::run_op_cases("op_bitwise_and"); }
