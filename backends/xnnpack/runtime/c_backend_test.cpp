// The table that programs in C hand to taper_open_path().

#include <gtest/gtest.h>

#include "backends/xnnpack/runtime/xnnpack_backend.h"
#include "taper/c_tables.h"
#include "taper/taper.h"

namespace taper {
namespace {

TEST(XnnpackForC, IsOneBackendThatAllModelsShare) {
  const taper_backends* backends = taper_xnnpack_backends();
  ASSERT_EQ(backends->table.size(), 1u);
  EXPECT_STREQ(backends->table[0].name, kXnnpackBackendId);
  EXPECT_NE(backends->table[0].interface, nullptr);
  EXPECT_EQ(taper_xnnpack_backends(), backends);
}

}  // namespace
}  // namespace taper
