// Cases of op_mean that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Mean, AgreesWithPyTorch) { taper::test::run_op_cases("op_mean"); }
