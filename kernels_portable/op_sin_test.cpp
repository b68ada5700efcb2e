// Cases of op_sin that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Sin, AgreesWithPyTorch) { taper::test::run_op_cases("op_sin"); }
