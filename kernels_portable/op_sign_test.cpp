// Cases of op_sign that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Sign, AgreesWithPyTorch) { taper::test::run_op_cases("op_sign"); }
