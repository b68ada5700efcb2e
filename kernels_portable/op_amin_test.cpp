// Cases of op_amin that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Amin, AgreesWithPyTorch) { taper::test::run_op_cases("op_amin"); }
