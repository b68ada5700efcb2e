// Cases of op_baddbmm that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Baddbmm, AgreesWithPyTorch) { taper::test::run_op_cases("op_baddbmm"); }
