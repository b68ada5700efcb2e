// Cases of op_softmax that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Softmax, AgreesWithPyTorch) { taper::test::run_op_cases("op_softmax"); }
