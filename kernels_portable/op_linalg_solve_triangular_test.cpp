// Cases of op_linalg_solve_triangular that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(LinalgSolveTriangular, AgreesWithPyTorch) {
  taper::test::run_op_cases("op_linalg_solve_triangular");
}
