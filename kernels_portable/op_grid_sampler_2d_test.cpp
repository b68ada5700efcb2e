// Cases of op_grid_sampler_2d that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(GridSampler2d, AgreesWithPyTorch) { taper::test::run_op_cases("op_grid_sampler_2d"); }
