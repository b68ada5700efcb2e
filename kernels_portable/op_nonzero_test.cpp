// Cases of op_nonzero that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Nonzero, AgreesWithPyTorch) { taper::test::run_op_cases("op_nonzero"); }
