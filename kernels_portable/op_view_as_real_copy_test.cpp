// Cases of op_view_as_real_copy that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(ViewAsRealCopy, AgreesWithPyTorch) { taper::test::run_op_cases("op_view_as_real_copy"); }
