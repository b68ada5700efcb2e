// Cases of op_linalg_cholesky_ex that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(LinalgCholeskyEx, AgreesWithPyTorch) { taper::test::run_op_cases("op_linalg_cholesky_ex"); }
