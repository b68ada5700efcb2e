// Cases of op_index_put that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(IndexPut, AgreesWithPyTorch) { taper::test::run_op_cases("op_index_put"); }
