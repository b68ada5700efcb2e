// Tests that waiting for a GPU takes about as long as the GPU, whatever the system's clock does.

#include "backends/vulkan/runtime/gpu/wait_time.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace taper::vulkan {
namespace {

constexpr double kPoll = 100e-6;

// The time until the result of each execution is seen, where the GPU needs gpu(i), and the system
// wakes a thread late(i) after it asked for.
std::vector<double> seen(int count, const std::function<double(int)>& gpu,
                         const std::function<double(int)>& late, double* asleep = nullptr) {
  WaitTime time;
  Lateness lateness;
  std::vector<double> all;
  for (int i = 0; i < count; ++i) {
    const double sleep = time.sleep(kPoll + lateness.value());
    const double woken = sleep > 0 ? sleep + late(i) : 0;
    lateness.note(sleep > 0 ? late(i) : 0);
    const bool overslept = woken > gpu(i);
    all.push_back(std::max(woken, gpu(i)));
    time.note(all.back(), overslept);
    if (asleep != nullptr) *asleep = sleep;
  }
  return all;
}

double sum(const std::vector<double>& all) {
  double total = 0;
  for (const double each : all) total += each;
  return total;
}

TEST(WaitTime, SleepsForMostOfALongTime) {
  double asleep = 0;
  const auto all = seen(
      100, [](int) { return 2e-3; }, [](int) { return 60e-6; }, &asleep);
  EXPECT_GT(asleep, 1.5e-3);
  EXPECT_LT(sum(all), 100 * 2.01e-3);
}

TEST(WaitTime, ShortTimesAreNotSlept) {
  double asleep = 1;
  seen(
      100, [](int) { return 150e-6; }, [](int) { return 60e-6; }, &asleep);
  EXPECT_EQ(asleep, 0);
}

TEST(WaitTime, NeverRunsAway) {
  for (const double late : {0.0, 60e-6, 200e-6, 1e-3, 10e-3}) {
    for (const double gpu : {100e-6, 400e-6, 1e-3, 5e-3, 50e-3}) {
      const auto all = seen(
          1000, [&](int) { return gpu; }, [&](int i) { return i % 3 == 0 ? late : late / 2; });
      EXPECT_LT(sum(all), 1000 * gpu * 1.05 + 2 * late) << gpu << " " << late;
    }
  }
}

TEST(WaitTime, OneSlowExecutionIsForgotten) {
  const auto all = seen(
      100, [](int i) { return i == 0 || i == 50 ? 20e-3 : 500e-6; }, [](int) { return 60e-6; });
  EXPECT_LT(sum(all), 2 * 20e-3 + 40e-3 + 98 * 520e-6);
  for (int i = 51; i < 100; ++i) EXPECT_LT(all[static_cast<size_t>(i)], 700e-6) << i;
}

}  // namespace
}  // namespace taper::vulkan
