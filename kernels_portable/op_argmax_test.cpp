// Cases of op_argmax that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Argmax, AgreesWithPyTorch) { taper::test::run_op_cases("op_argmax"); }
