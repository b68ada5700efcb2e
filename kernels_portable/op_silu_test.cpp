// Cases of op_silu that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Silu, AgreesWithPyTorch) { taper::test::run_op_cases("op_silu"); }
