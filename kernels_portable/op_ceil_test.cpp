// Cases of op_ceil that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Ceil, AgreesWithPyTorch) { taper::test::run_op_cases("op_ceil"); }
