// Cases of op_sqrt that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Sqrt, AgreesWithPyTorch) { taper::test::run_op_cases("op_sqrt"); }
