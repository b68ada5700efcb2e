// Cases of op_leaky_relu that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(LeakyRelu, AgreesWithPyTorch) { taper::test::run_op_cases("op_leaky_relu"); }
