// Cases of op_atanh that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Atanh, AgreesWithPyTorch) { taper::test::run_op_cases("op_atanh"); }
