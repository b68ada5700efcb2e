// Cases of op_asin that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Asin, AgreesWithPyTorch) { taper::test::run_op_cases("op_asin"); }
