// Cases of op_tanh that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Tanh, AgreesWithPyTorch) { taper::test::run_op_cases("op_tanh"); }
