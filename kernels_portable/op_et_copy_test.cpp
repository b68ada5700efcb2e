// Cases of op_et_copy that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(EtCopy, AgreesWithPyTorch) { taper::test::run_op_cases("op_et_copy"); }
