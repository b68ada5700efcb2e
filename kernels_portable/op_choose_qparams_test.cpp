// Cases of op_choose_qparams that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(ChooseQparams, AgreesWithPyTorch) { taper::test::run_op_cases("op_choose_qparams"); }
