// Cases of op_fft_r2c that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(FftR2c, AgreesWithPyTorch) { taper::test::run_op_cases("op_fft_r2c"); }
