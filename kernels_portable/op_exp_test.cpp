// Cases of op_exp that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Exp, AgreesWithPyTorch) { taper::test::run_op_cases("op_exp"); }
