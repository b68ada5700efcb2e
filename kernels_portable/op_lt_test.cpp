// Cases of op_lt that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Lt, AgreesWithPyTorch) { taper::test::run_op_cases("op_lt"); }
