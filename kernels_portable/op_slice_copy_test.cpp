// Cases of op_slice_copy that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(SliceCopy, AgreesWithPyTorch) { taper::test::run_op_cases("op_slice_copy"); }
