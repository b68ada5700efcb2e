// Cases of op_replication_pad1d that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(ReplicationPad1d, AgreesWithPyTorch) { taper::test::run_op_cases("op_replication_pad1d"); }
