// Cases of op_masked_fill that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(MaskedFill, AgreesWithPyTorch) { taper::test::run_op_cases("op_masked_fill"); }
