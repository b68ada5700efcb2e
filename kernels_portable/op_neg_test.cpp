// Cases of op_neg that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Neg, AgreesWithPyTorch) { taper::test::run_op_cases("op_neg"); }
