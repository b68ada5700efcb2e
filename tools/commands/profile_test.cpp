// Tests the collection of times.

#include "tools/commands/profile.h"

#include <gtest/gtest.h>

namespace taper::tools {
namespace {

TEST(Profile, StepsOfDelegatesAreKeptApartInTheirOrder) {
  Profile profile;
  const int first = 0, second = 0;
  for (const double seconds : {3.0, 1.0, 2.0}) {
    profile.add({&second, 0, "b", "kb", "2", seconds});
    profile.add({&first, 0, "a", "ka", "1", seconds + 10});
    profile.add({&second, 1, "c", "kc", "3", seconds + 20});
  }
  const std::vector<ProfiledTimes> steps = profile.steps();
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[0].op, "b");
  EXPECT_EQ(steps[0].median(), 2);
  EXPECT_EQ(steps[1].kernel, "ka");
  EXPECT_EQ(steps[1].median(), 12);
  EXPECT_EQ(steps[2].sizes, "3");
  EXPECT_EQ(steps[2].seconds, (std::vector<double>{23, 21, 22}));
}

}  // namespace
}  // namespace taper::tools
