// Cases of op_permute_copy that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(PermuteCopy, AgreesWithPyTorch) { taper::test::run_op_cases("op_permute_copy"); }
