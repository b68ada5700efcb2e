// Cases of op_linear that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Linear, AgreesWithPyTorch) { taper::test::run_op_cases("op_linear"); }
