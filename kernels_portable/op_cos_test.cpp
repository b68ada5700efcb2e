// Cases of op_cos that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Cos, AgreesWithPyTorch) { taper::test::run_op_cases("op_cos"); }
