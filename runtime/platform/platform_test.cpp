#include "taper/platform.h"

#include <gtest/gtest.h>

#include <string>

namespace taper {
namespace {

std::string seen;

TEST(Platform, TheClockDoesNotRunBackwards) {
  const uint64_t first = platform().now_ns();
  EXPECT_GE(platform().now_ns(), first);
}

TEST(Platform, TheTableCanBeReplaced) {
  const Platform before = platform();
  static const Platform mine = {[](LogLevel, std::string_view line) { seen = line; },
                                [] { return uint64_t{42}; }, before.abort};
  set_platform(mine);
  platform().log(LogLevel::kInfo, "hello");
  EXPECT_EQ(seen, "hello");
  EXPECT_EQ(platform().now_ns(), 42u);
  static const Platform kept = before;
  set_platform(kept);
}

}  // namespace
}  // namespace taper
