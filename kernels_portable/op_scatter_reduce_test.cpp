// Cases of op_scatter_reduce that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(ScatterReduce, AgreesWithPyTorch) { taper::test::run_op_cases("op_scatter_reduce"); }
