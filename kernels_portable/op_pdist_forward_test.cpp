// Cases of op_pdist_forward that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(PdistForward, AgreesWithPyTorch) { taper::test::run_op_cases("op_pdist_forward"); }
