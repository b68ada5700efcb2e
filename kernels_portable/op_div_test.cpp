// Cases of op_div that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Div, AgreesWithPyTorch) { taper::test::run_op_cases("op_div"); }
