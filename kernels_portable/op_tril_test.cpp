// Cases of op_tril that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Tril, AgreesWithPyTorch) { taper::test::run_op_cases("op_tril"); }
