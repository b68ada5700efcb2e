// Cases of op_native_dropout that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(NativeDropout, AgreesWithPyTorch) { taper::test::run_op_cases("op_native_dropout"); }
