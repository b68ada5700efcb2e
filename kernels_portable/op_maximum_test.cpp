// Cases of op_maximum that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Maximum, AgreesWithPyTorch) { taper::test::run_op_cases("op_maximum"); }
