// Cases of op_gated_delta_rule that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(GatedDeltaRule, AgreesWithPyTorch) { taper::test::run_op_cases("op_gated_delta_rule"); }
