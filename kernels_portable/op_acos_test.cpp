// Cases of op_acos that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Acos, AgreesWithPyTorch) { taper::test::run_op_cases("op_acos"); }
