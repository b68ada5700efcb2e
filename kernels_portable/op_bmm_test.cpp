// Cases of op_bmm that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Bmm, AgreesWithPyTorch) { taper::test::run_op_cases("op_bmm"); }
