// Cases of op_rsub that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Rsub, AgreesWithPyTorch) { taper::test::run_op_cases("op_rsub"); }
