// Cases of op_fmod that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(Fmod, AgreesWithPyTorch) { taper::test::run_op_cases("op_fmod"); }
