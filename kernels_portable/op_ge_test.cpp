// Cases of op_ge that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Ge, AgreesWithPyTorch) { taper::test::run_op_cases("op_ge"); }
