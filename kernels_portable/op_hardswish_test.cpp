// Cases of op_hardswish that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Hardswish, AgreesWithPyTorch) { taper::test::run_op_cases("op_hardswish"); }
