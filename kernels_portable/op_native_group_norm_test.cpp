// Cases of op_native_group_norm that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(NativeGroupNorm, AgreesWithPyTorch) { taper::test::run_op_cases("op_native_group_norm"); }
