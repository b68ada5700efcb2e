// Cases of op_logical_xor that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(LogicalXor, AgreesWithPyTorch) { taper::test::run_op_cases("op_logical_xor"); }
