// Cases of op_linalg_svd that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(LinalgSvd, AgreesWithPyTorch) { taper::test::run_op_cases("op_linalg_svd"); }
