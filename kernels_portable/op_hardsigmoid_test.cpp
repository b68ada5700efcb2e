// Cases of op_hardsigmoid that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Hardsigmoid, AgreesWithPyTorch) { taper::test::run_op_cases("op_hardsigmoid"); }
