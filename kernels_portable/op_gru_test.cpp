// Cases of op_gru that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Gru, AgreesWithPyTorch) { taper::test::run_op_cases("op_gru"); }
