// Cases of op_adaptive_avg_pool2d that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(AdaptiveAvgPool2d, AgreesWithPyTorch) { taper::test::run_op_cases("op_adaptive_avg_pool2d"); }
