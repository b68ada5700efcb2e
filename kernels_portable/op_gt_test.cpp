// Cases of op_gt that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Gt, AgreesWithPyTorch) { taper::test::run_op_cases("op_gt"); }
