// Cases of op_logical_or that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(LogicalOr, AgreesWithPyTorch) { taper::test::run_op_cases("op_logical_or"); }
