// Cases of op_unfold_copy that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(UnfoldCopy, AgreesWithPyTorch) { taper::test::run_op_cases("op_unfold_copy"); }
