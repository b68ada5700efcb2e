// Cases of op_addmm that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Addmm, AgreesWithPyTorch) { taper::test::run_op_cases("op_addmm"); }
