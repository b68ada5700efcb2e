// Cases of op_prod that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Prod, AgreesWithPyTorch) { taper::test::run_op_cases("op_prod"); }
