// Cases of op_isinf that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Isinf, AgreesWithPyTorch) { taper::test::run_op_cases("op_isinf"); }
