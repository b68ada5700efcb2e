// Cases of op_fill that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Fill, AgreesWithPyTorch) { taper::test::run_op_cases("op_fill"); }
