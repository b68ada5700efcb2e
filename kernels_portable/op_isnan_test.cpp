// Cases of op_isnan that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Isnan, AgreesWithPyTorch) { taper::test::run_op_cases("op_isnan"); }
