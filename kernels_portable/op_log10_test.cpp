// Cases of op_log10 that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Log10, AgreesWithPyTorch) { taper::test::run_op_cases("op_log10"); }
