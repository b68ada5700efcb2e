// Cases of op_logical_not that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(LogicalNot, AgreesWithPyTorch) { taper::test::run_op_cases("op_logical_not"); }
