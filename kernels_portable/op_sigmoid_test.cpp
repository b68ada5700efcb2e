// Cases of op_sigmoid that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Sigmoid, AgreesWithPyTorch) { taper::test::run_op_cases("op_sigmoid"); }
