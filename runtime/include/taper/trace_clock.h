// TraceClock: a clock that is cheap to read, for tracers. It counts what the processor counts,
// where that is steady, and otherwise the nanoseconds of std::chrono::steady_clock.
//
//   TraceClock clock;                              // takes two milliseconds
//   TraceRing ring(records, clock.counter());
//   ...
//   clock.seconds(ring[0].end - ring[0].begin)

#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace taper {

class TraceClock {
 public:
  using Counter = uint64_t (*)();

  TraceClock() : counter_(pick()), seconds_per_tick_(counter_ == nanoseconds ? 1e-9 : measure()) {}

  Counter counter() const { return counter_; }
  uint64_t now() const { return counter_(); }
  double seconds(uint64_t ticks) const { return static_cast<double>(ticks) * seconds_per_tick_; }
  // A point in time in nanoseconds, of which only differences mean anything.
  uint64_t nanoseconds_at(uint64_t count) const {
    return static_cast<uint64_t>(static_cast<double>(count) * (seconds_per_tick_ * 1e9));
  }

 private:
  static uint64_t nanoseconds() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
  }

#if defined(__x86_64__)
  static uint64_t ticks() { return __rdtsc(); }
  // The counter runs at one rate in all states of the processor: bit 8 of this leaf's EDX.
  static bool is_steady() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(0x80000007u, &a, &b, &c, &d) != 0 && (d & 0x100u) != 0;
  }
#elif defined(__aarch64__)
  static uint64_t ticks() {
    uint64_t count;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
    return count;
  }
  static bool is_steady() { return true; }
#else
  static uint64_t ticks() { return nanoseconds(); }
  static bool is_steady() { return false; }
#endif

  static Counter pick() { return is_steady() ? &ticks : &nanoseconds; }

  struct Reading {
    uint64_t nanoseconds, count;
  };
  // Both clocks at one moment: of several readings the quickest, since a thread may have to wait
  // between the two.
  Reading read_both() const {
    Reading best = {};
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 8; ++i) {
      const uint64_t before = nanoseconds(), count = counter_(), after = nanoseconds();
      if (after - before < least) best = {before, count};
      least = std::min(least, after - before);
    }
    return best;
  }

  double measure() const {
    constexpr uint64_t kNanoseconds = 2'000'000;
    const Reading first = read_both();
    while (nanoseconds() - first.nanoseconds < kNanoseconds) continue;
    const Reading last = read_both();
    if (last.count <= first.count) return 1e-9;
    return static_cast<double>(last.nanoseconds - first.nanoseconds) * 1e-9 /
           static_cast<double>(last.count - first.count);
  }

  Counter counter_;
  double seconds_per_tick_;
};

}  // namespace taper
