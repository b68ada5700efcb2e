// Cases of op_clamp that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Clamp, AgreesWithPyTorch) { taper::test::run_op_cases("op_clamp"); }
