// Cases of op_repeat that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Repeat, AgreesWithPyTorch) { taper::test::run_op_cases("op_repeat"); }
