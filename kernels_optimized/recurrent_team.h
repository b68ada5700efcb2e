// Threads that compute the steps of a recurrent layer together: each has a share of the blocks,
// whose weights stay in its cache, and waits after every step for the others.
//
// A pool may run tasks one after another, so nobody may wait for a member that has not begun. The
// share of such a member is taken by one that is there; a member that comes late goes through the
// steps that are done and then does its own share. So whoever waits, waits for one that computes.
// On a busy machine that one may have lost its core: whoever waits for long takes what nobody has
// taken yet, and leaves its core to others from time to time.

#pragma once

#if defined(__unix__) || defined(__APPLE__)
#include <sched.h>
#endif

#include <atomic>
#include <cstdint>

#include "kernels_optimized/recurrent.h"

namespace taper::optimized {

inline constexpr int64_t kMostMembers = 16;

class RecurrentTeam {
 public:
  // REQUIRES: 1 <= members <= kMostMembers.
  RecurrentTeam(const RecurrentLayer& layer, RecurrentStep step, int64_t members)
      : layer_(layer), step_(step), members_(members) {}

  int64_t members() const { return members_; }

  // To be called once for each member, on any threads.
  void join(int64_t member) {
    shares_[member].is_there.store(true, std::memory_order_relaxed);
    for (int64_t i = 0; i < layer_.r.steps; ++i) {
      for (int64_t k = 0; k < members_; ++k) {
        const int64_t share = (member + k) % members_;
        if (k == 0 || !shares_[share].is_there.load(std::memory_order_relaxed)) take(share, i);
      }
      for (int64_t turns = 1; !is_done(i); ++turns) {
        pause();
        if (turns % kPatience != 0) continue;
        for (int64_t share = 0; share < members_; ++share) take(share, i);
        give_way();
      }
    }
  }

 private:
  struct alignas(64) Share {
    std::atomic<int64_t> next{0};  // The first step of it that nobody has taken.
    std::atomic<bool> is_there{false};
  };

  // Turns, of some 50 ns each.
  static constexpr int64_t kPatience = 200;

  bool is_done(int64_t i) const {
    return done_.load(std::memory_order_acquire) >= (i + 1) * members_;
  }

  static void give_way() {
#if defined(__unix__) || defined(__APPLE__)
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
  alignas(64) std::atomic<int64_t> done_{0};  // Shares of steps.
};

}  // namespace taper::optimized
