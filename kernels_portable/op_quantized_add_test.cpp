// Cases of op_quantized_add that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(QuantizedAdd, AgreesWithPyTorch) { taper::test::run_op_cases("op_quantized_add"); }
