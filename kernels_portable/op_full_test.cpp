// Cases of op_full that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Full, AgreesWithPyTorch) { taper::test::run_op_cases("op_full"); }
