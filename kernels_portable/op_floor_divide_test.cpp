// Cases of op_floor_divide that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(FloorDivide, AgreesWithPyTorch) { taper::test::run_op_cases("op_floor_divide"); }
