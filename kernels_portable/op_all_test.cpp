// Cases of op_all that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(All, AgreesWithPyTorch) { taper::test::run_op_cases("op_all"); }
