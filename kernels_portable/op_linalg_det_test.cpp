// Cases of op_linalg_det that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(LinalgDet, AgreesWithPyTorch) { taper::test::run_op_cases("op_linalg_det"); }
