// Cases of op_linalg_eigh that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(LinalgEigh, AgreesWithPyTorch) { taper::test::run_op_cases("op_linalg_eigh"); }
