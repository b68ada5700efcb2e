// Cases of op_log_softmax that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(LogSoftmax, AgreesWithPyTorch) { taper::test::run_op_cases("op_log_softmax"); }
