// Cases of op_custom_sdpa that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(CustomSdpa, AgreesWithPyTorch) { taper::test::run_op_cases("op_custom_sdpa"); }
