// Cases of op_log2 that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Log2, AgreesWithPyTorch) { taper::test::run_op_cases("op_log2"); }
