// Cases of op_quantize that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Quantize, AgreesWithPyTorch) { taper::test::run_op_cases("op_quantize"); }
