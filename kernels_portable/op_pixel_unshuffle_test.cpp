// Cases of op_pixel_unshuffle that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(PixelUnshuffle, AgreesWithPyTorch) { taper::test::run_op_cases("op_pixel_unshuffle"); }
