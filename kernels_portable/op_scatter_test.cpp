// Cases of op_scatter that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Scatter, AgreesWithPyTorch) { taper::test::run_op_cases("op_scatter"); }
