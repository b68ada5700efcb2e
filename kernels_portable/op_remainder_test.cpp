// Cases of op_remainder that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Remainder, AgreesWithPyTorch) { taper::test::run_op_cases("op_remainder"); }
