// Cases of op_acosh that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Acosh, AgreesWithPyTorch) { taper::test::run_op_cases("op_acosh"); }
