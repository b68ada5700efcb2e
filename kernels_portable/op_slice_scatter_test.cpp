// Cases of op_slice_scatter that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(SliceScatter, AgreesWithPyTorch) { taper::test::run_op_cases("op_slice_scatter"); }
