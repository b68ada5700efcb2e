// Cases of op_round that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Round, AgreesWithPyTorch) { taper::test::run_op_cases("op_round"); }
