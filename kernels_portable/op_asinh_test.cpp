// Cases of op_asinh that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Asinh, AgreesWithPyTorch) { taper::test::run_op_cases("op_asinh"); }
