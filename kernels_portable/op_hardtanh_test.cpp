// Cases of op_hardtanh that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Hardtanh, AgreesWithPyTorch) { taper::test::run_op_cases("op_hardtanh"); }
