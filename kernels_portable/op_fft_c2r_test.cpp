// Cases of op_fft_c2r that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(FftC2r, AgreesWithPyTorch) { taper::test::run_op_cases("op_fft_c2r"); }
