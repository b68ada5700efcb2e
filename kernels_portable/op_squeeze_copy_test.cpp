// Cases of op_squeeze_copy that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(SqueezeCopy, AgreesWithPyTorch) { taper::test::run_op_cases("op_squeeze_copy"); }
