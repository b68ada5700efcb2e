// Cases of op_gather that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Gather, AgreesWithPyTorch) { taper::test::run_op_cases("op_gather"); }
