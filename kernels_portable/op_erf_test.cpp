// Cases of op_erf that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Erf, AgreesWithPyTorch) { taper::test::run_op_cases("op_erf"); }
