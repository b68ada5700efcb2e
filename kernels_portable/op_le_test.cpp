// Cases of op_le that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Le, AgreesWithPyTorch) { taper::test::run_op_cases("op_le"); }
