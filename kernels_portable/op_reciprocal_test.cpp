// Cases of op_reciprocal that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Reciprocal, AgreesWithPyTorch) { taper::test::run_op_cases("op_reciprocal"); }
