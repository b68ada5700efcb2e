// Cases of op_diagonal_copy that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(DiagonalCopy, AgreesWithPyTorch) { taper::test::run_op_cases("op_diagonal_copy"); }
