// Cases of op_as_strided_copy that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(AsStridedCopy, AgreesWithPyTorch) { taper::test::run_op_cases("op_as_strided_copy"); }
