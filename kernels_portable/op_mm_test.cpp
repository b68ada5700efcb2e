// Cases of op_mm that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Mm, AgreesWithPyTorch) { taper::test::run_op_cases("op_mm"); }
