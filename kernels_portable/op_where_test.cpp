// Cases of op_where that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Where, AgreesWithPyTorch) { taper::test::run_op_cases("op_where"); }
