// Cases of op_convolution_backward that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(ConvolutionBackward, AgreesWithPyTorch) {
  taper::test::run_op_cases("op_convolution_backward");
}
