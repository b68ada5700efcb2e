// Threads that compute the steps of a recurrent layer together. Each member of the team has a share
// of the blocks, whose weights stay in its cache, and all members synchronise after every step.
//
// A thread pool may run tasks one after another, so no member may wait for one that has not
// started. The share of a member that has not started is computed by the others; a late member
// skips the steps that are complete and then computes its own share. So a member only ever waits
// for one that is computing. On a busy machine that one may have lost its core: a member that has
// waited for long takes any share that nobody has taken yet, and yields its core from time to time.

#pragma once

#if defined(__unix__) || defined(__APPLE__) || defined(__MINGW32__)
#include <sched.h>
#endif

#include <atomic>
#include <cstdint>

#include "kernels_optimized/cores/recurrent.h"

namespace taper::optimized {

inline constexpr int64_t kMostMembers = 16;

class RecurrentTeam {
 public:
  // REQUIRES: 1 <= members <= kMostMembers.
  RecurrentTeam(const RecurrentLayer& layer, RecurrentStep step, int64_t members)
      : layer_(layer), step_(step), members_(members) {}

  int64_t members() const { return members_; }

  // Takes part as `member` until all steps are complete. Call it once for each member, on any
  // threads.
  void join(int64_t member) {
    shares_[member].is_there.store(true, std::memory_order_relaxed);
    for (int64_t i = 0; i < layer_.r.steps; ++i) {
      for (int64_t k = 0; k < members_; ++k) {
        const int64_t share = (member + k) % members_;
        if (k == 0 || !shares_[share].is_there.load(std::memory_order_relaxed)) take(share, i);
      }
      for (int64_t spins = 1; !is_done(i); ++spins) {
        pause();
        if (spins % kPatience != 0) continue;
        for (int64_t share = 0; share < members_; ++share) take(share, i);
        give_way();
      }
    }
  }

 private:
  struct alignas(64) Share {
    std::atomic<int64_t> next{0};  // The first step of this share that nobody has taken.
    std::atomic<bool> is_there{false};
  };

  // How many spins, of some 50 ns each, a member waits before it helps and yields.
  static constexpr int64_t kPatience = 200;

  bool is_done(int64_t i) const {
    return done_.load(std::memory_order_acquire) >= (i + 1) * members_;
  }

  static void give_way() {
#if defined(__unix__) || defined(__APPLE__) || defined(__MINGW32__)
    sched_yield();
#endif
  }
  static void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  void take(int64_t share, int64_t i) {
    int64_t expected = i;
    if (!shares_[share].next.compare_exchange_strong(expected, i + 1, std::memory_order_relaxed)) {
      return;
    }
    const portable::Recurrence& r = layer_.r;
    const int64_t all = r.directions * r.blocks();
    const int64_t begin = share * all / members_, end = (share + 1) * all / members_;
    for (int64_t d = 0; d < r.directions; ++d) {
      const int64_t from = d * r.blocks(), to = from + r.blocks();
      const int64_t first = begin > from ? begin : from, last = end < to ? end : to;
      if (first < last) step_(layer_, i, {d, first - from, last - from, 0, r.batch});
    }
    done_.fetch_add(1, std::memory_order_acq_rel);
  }

  const RecurrentLayer& layer_;
  const RecurrentStep step_;
  const int64_t members_;
  Share shares_[kMostMembers];
  alignas(64) std::atomic<int64_t> done_{0};  // How many shares, of all steps, are complete.
};

}  // namespace taper::optimized
