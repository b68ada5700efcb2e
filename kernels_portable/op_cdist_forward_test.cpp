// Cases of op_cdist_forward that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(CdistForward, AgreesWithPyTorch) { taper::test::run_op_cases("op_cdist_forward"); }
