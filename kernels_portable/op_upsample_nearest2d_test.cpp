// Cases of op_upsample_nearest2d that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(UpsampleNearest2d, AgreesWithPyTorch) { taper::test::run_op_cases("op_upsample_nearest2d"); }
