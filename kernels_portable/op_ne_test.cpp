// Cases of op_ne that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Ne, AgreesWithPyTorch) { taper::test::run_op_cases("op_ne"); }
