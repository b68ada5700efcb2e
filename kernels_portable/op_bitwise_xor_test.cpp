// Cases of op_bitwise_xor that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(BitwiseXor, AgreesWithPyTorch) { taper::test::run_op_cases("op_bitwise_xor"); }
