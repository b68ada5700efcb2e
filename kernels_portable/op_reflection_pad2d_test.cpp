// Cases of op_reflection_pad2d that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(ReflectionPad2d, AgreesWithPyTorch) { taper::test::run_op_cases("op_reflection_pad2d"); }
