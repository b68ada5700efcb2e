// Cases of op_var that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Var, AgreesWithPyTorch) { taper::test::run_op_cases("op_var"); }
