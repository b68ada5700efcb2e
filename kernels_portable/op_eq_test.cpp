// Cases of op_eq that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Eq, AgreesWithPyTorch) { taper::test::run_op_cases("op_eq"); }
