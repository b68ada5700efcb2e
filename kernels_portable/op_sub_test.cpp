// Cases of op_sub that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Sub, AgreesWithPyTorch) { taper::test::run_op_cases("op_sub"); }
