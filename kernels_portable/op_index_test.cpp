// Cases of op_index that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Index, AgreesWithPyTorch) { taper::test::run_op_cases("op_index"); }
