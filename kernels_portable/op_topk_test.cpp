// Cases of op_topk that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Topk, AgreesWithPyTorch) { taper::test::run_op_cases("op_topk"); }
