// Tests that every index is run exactly once, for any number of rounds and threads.

#include "tools/own_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace taper::tools {
namespace {

TEST(OwnThreads, RunEveryIndexOnce) {
  for (const uint32_t count : {1u, 2u, 5u}) {
    OwnThreads threads(count);
    const ThreadPool pool = threads.thread_pool();
    EXPECT_EQ(pool.threads, count);
    for (size_t round = 0; round < 300; ++round) {
      std::vector<int> runs(round % 7);
      const auto each = [&](size_t i) { ++runs[i]; };
      parallel_for(pool, runs.size(), each);
      for (const int n : runs) EXPECT_EQ(n, 1);
    }
  }
}

// Threads that come late to a round of a few indices must not take part in the next one's place.
TEST(OwnThreads, LateThreadsDoNotTouchTheNextRound) {
  OwnThreads threads(8);
  const ThreadPool pool = threads.thread_pool();
  for (size_t round = 0; round < 20'000; ++round) {
    std::atomic<size_t> sum{0};
    const auto each = [&](size_t i) { sum += i + round; };
    parallel_for(pool, 2, each);
    ASSERT_EQ(sum.load(), 2 * round + 1);
  }
}

}  // namespace
}  // namespace taper::tools
