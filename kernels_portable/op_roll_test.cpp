// Cases of op_roll that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Roll, AgreesWithPyTorch) { taper::test::run_op_cases("op_roll"); }
