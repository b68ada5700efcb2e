// Cases of op_tan that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Tan, AgreesWithPyTorch) { taper::test::run_op_cases("op_tan"); }
