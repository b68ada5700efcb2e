// Cases of op_min that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Min, AgreesWithPyTorch) { taper::test::run_op_cases("op_min"); }
