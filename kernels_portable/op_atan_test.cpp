// Cases of op_atan that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Atan, AgreesWithPyTorch) { taper::test::run_op_cases("op_atan"); }
