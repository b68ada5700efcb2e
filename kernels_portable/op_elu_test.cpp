// Cases of op_elu that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Elu, AgreesWithPyTorch) { taper::test::run_op_cases("op_elu"); }
