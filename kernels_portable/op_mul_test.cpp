// Cases of op_mul that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Mul, AgreesWithPyTorch) { taper::test::run_op_cases("op_mul"); }
