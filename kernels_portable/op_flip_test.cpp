// Cases of op_flip that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Flip, AgreesWithPyTorch) { taper::test::run_op_cases("op_flip"); }
