// Cases of op_expm1 that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Expm1, AgreesWithPyTorch) { taper::test::run_op_cases("op_expm1"); }
