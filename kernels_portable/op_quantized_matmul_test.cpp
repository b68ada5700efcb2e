// Cases of op_quantized_matmul that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(QuantizedMatmul, AgreesWithPyTorch) { taper::test::run_op_cases("op_quantized_matmul"); }
