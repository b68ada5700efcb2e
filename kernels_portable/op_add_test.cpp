// Cases of op_add that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Add, AgreesWithPyTorch) { taper::test::run_op_cases("op_add"); }
