// Cases of op_split_copy that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(SplitCopy, AgreesWithPyTorch) { taper::test::run_op_cases("op_split_copy"); }
