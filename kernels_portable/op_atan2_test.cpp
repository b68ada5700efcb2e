// Cases of op_atan2 that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Atan2, AgreesWithPyTorch) { taper::test::run_op_cases("op_atan2"); }
