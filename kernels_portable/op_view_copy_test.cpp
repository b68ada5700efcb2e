// Cases of op_view_copy that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(ViewCopy, AgreesWithPyTorch) { taper::test::run_op_cases("op_view_copy"); }
