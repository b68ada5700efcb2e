// Cases of op_cosh that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Cosh, AgreesWithPyTorch) { taper::test::run_op_cases("op_cosh"); }
