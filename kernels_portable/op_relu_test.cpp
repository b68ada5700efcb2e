// Cases of op_relu that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Relu, AgreesWithPyTorch) { taper::test::run_op_cases("op_relu"); }
