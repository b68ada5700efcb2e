// Cases of op_cat that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Cat, AgreesWithPyTorch) { taper::test::run_op_cases("op_cat"); }
