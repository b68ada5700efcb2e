// Cases of op_lstm that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Lstm, AgreesWithPyTorch) { taper::test::run_op_cases("op_lstm"); }
