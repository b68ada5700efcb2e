// Cases of op_native_layer_norm that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(NativeLayerNorm, AgreesWithPyTorch) { taper::test::run_op_cases("op_native_layer_norm"); }
