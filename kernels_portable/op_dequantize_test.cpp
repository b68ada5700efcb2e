// Cases of op_dequantize that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Dequantize, AgreesWithPyTorch) { taper::test::run_op_cases("op_dequantize"); }
