// Cases of op_linalg_solve_ex that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(LinalgSolveEx, AgreesWithPyTorch) { taper::test::run_op_cases("op_linalg_solve_ex"); }
