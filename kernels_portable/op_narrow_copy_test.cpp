// Cases of op_narrow_copy that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(NarrowCopy, AgreesWithPyTorch) { taper::test::run_op_cases("op_narrow_copy"); }
