// Cases of op_clone that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Clone, AgreesWithPyTorch) { taper::test::run_op_cases("op_clone"); }
