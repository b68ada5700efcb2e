// Cases of op_batch_norm that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(BatchNorm, AgreesWithPyTorch) { taper::test::run_op_cases("op_batch_norm"); }
