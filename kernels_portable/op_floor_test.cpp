// Cases of op_floor that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Floor, AgreesWithPyTorch) { taper::test::run_op_cases("op_floor"); }
