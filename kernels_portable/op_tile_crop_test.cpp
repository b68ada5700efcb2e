// Cases of op_tile_crop that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(TileCrop, AgreesWithPyTorch) { taper::test::run_op_cases("op_tile_crop"); }
