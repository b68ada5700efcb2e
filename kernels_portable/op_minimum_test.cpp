// Cases of op_minimum that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Minimum, AgreesWithPyTorch) { taper::test::run_op_cases("op_minimum"); }
