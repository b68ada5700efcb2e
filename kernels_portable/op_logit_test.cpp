// Cases of op_logit that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Logit, AgreesWithPyTorch) { taper::test::run_op_cases("op_logit"); }
