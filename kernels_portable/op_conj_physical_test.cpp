// Cases of op_conj_physical that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(ConjPhysical, AgreesWithPyTorch) { taper::test::run_op_cases("op_conj_physical"); }
