// Cases of op_trunc that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Trunc, AgreesWithPyTorch) { taper::test::run_op_cases("op_trunc"); }
