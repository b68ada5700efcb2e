// Cases of op_rsqrt that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Rsqrt, AgreesWithPyTorch) { taper::test::run_op_cases("op_rsqrt"); }
