// Cases of op_copy that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Copy, AgreesWithPyTorch) { taper::test::run_op_cases("op_copy"); }
