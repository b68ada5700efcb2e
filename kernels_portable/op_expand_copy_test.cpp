// Cases of op_expand_copy that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(ExpandCopy, AgreesWithPyTorch) { taper::test::run_op_cases("op_expand_copy"); }
