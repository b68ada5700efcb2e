// Cases of op_allclose that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Allclose, AgreesWithPyTorch) { taper::test::run_op_cases("op_allclose"); }
