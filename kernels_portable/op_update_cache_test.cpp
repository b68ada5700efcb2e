// Cases of op_update_cache that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(UpdateCache, AgreesWithPyTorch) { taper::test::run_op_cases("op_update_cache"); }
