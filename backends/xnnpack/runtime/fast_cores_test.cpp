// Tests which cores count as fast.

#include "backends/xnnpack/runtime/fast_cores.h"

#include <gtest/gtest.h>
#include <sched.h>

namespace taper::xnnpack {
namespace {

TEST(FastCores, SmallOnesAreNotCounted) {
  const Core phone[] = {{250}, {250}, {250}, {250}, {820}, {820}, {820}, {1024}};
  EXPECT_EQ(count_fast(phone), 4u);
  const Core uneven[] = {{500}, {1024}};
  EXPECT_EQ(count_fast(uneven), 1u);
}

TEST(FastCores, WhereNothingTellsThemApartAllAre) {
  const Core same[] = {{0}, {0}, {0}};
  EXPECT_EQ(count_fast(same), 3u);
  EXPECT_EQ(count_fast({}), 1u);
}

TEST(FastCores, OnlyThoseThatTheProcessMayUse) {
  cpu_set_t all, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
  EXPECT_LE(fast_cores(), static_cast<uint32_t>(CPU_COUNT(&all)));
  CPU_ZERO(&one);
  for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i) {
    if (CPU_ISSET(i, &all)) CPU_SET(i, &one);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(fast_cores(), 1u);
  ASSERT_EQ(sched_setaffinity(0, sizeof(all), &all), 0);
}

}  // namespace
}  // namespace taper::xnnpack
