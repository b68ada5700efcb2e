// Cases of op_arange that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Arange, AgreesWithPyTorch) { taper::test::run_op_cases("op_arange"); }
