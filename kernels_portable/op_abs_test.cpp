// Cases of op_abs that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Abs, AgreesWithPyTorch) { taper::test::run_op_cases("op_abs"); }
