// Cases of op_glu that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Glu, AgreesWithPyTorch) { taper::test::run_op_cases("op_glu"); }
