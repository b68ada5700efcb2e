// Cases of op_log1p that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Log1p, AgreesWithPyTorch) { taper::test::run_op_cases("op_log1p"); }
