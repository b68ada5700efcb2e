// Cases of op_cumsum that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Cumsum, AgreesWithPyTorch) { taper::test::run_op_cases("op_cumsum"); }
