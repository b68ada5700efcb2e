// Cases of op_pixel_shuffle that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(PixelShuffle, AgreesWithPyTorch) { taper::test::run_op_cases("op_pixel_shuffle"); }
