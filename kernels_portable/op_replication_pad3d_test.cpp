// Cases of op_replication_pad3d that PyTorch computed.

#include <gtest/gtest.h>

#include "test/support/op_cases.h"

TEST(ReplicationPad3d, AgreesWithPyTorch) { taper::test::run_op_cases("op_replication_pad3d"); }
