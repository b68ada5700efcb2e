// Cases of op_argmin that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Argmin, AgreesWithPyTorch) { taper::test::run_op_cases("op_argmin"); }
