// Cases of op_pow that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Pow, AgreesWithPyTorch) { taper::test::run_op_cases("op_pow"); }
