// Cases of op_masked_select that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(MaskedSelect, AgreesWithPyTorch) { taper::test::run_op_cases("op_masked_select"); }
