// Cases of op_max that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Max, AgreesWithPyTorch) { taper::test::run_op_cases("op_max"); }
