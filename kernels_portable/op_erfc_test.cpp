// Cases of op_erfc that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Erfc, AgreesWithPyTorch) { taper::test::run_op_cases("op_erfc"); }
