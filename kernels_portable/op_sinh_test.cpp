// Cases of op_sinh that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Sinh, AgreesWithPyTorch) { taper::test::run_op_cases("op_sinh"); }
