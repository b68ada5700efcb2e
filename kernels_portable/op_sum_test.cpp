// Cases of op_sum that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Sum, AgreesWithPyTorch) { taper::test::run_op_cases("op_sum"); }
