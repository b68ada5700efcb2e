// Cases of op_to_copy that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(ToCopy, AgreesWithPyTorch) { taper::test::run_op_cases("op_to_copy"); }
