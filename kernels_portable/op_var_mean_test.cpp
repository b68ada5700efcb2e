// Cases of op_var_mean that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(VarMean, AgreesWithPyTorch) { taper::test::run_op_cases("op_var_mean"); }
