// Cases of op_linalg_qr that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(LinalgQr, AgreesWithPyTorch) { taper::test::run_op_cases("op_linalg_qr"); }
