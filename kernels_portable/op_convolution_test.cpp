// Cases of op_convolution that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Convolution, AgreesWithPyTorch) { taper::test::run_op_cases("op_convolution"); }
