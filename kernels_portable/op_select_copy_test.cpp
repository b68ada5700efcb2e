// Cases of op_select_copy that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(SelectCopy, AgreesWithPyTorch) { taper::test::run_op_cases("op_select_copy"); }
