// Cases of op_any that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Any, AgreesWithPyTorch) { taper::test::run_op_cases("op_any"); }
