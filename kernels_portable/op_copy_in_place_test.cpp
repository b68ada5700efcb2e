// Cases of op_copy_in_place that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(CopyInPlace, AgreesWithPyTorch) { taper::test::run_op_cases("op_copy_in_place"); }
