// Cases of op_amax that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Amax, AgreesWithPyTorch) { taper::test::run_op_cases("op_amax"); }
