// Cases of op_prim_number that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(PrimNumber, AgreesWithPyTorch) { taper::test::run_op_cases("op_prim_number"); }
