// Cases of op_log that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Log, AgreesWithPyTorch) { taper::test::run_op_cases("op_log"); }
