// The caller offers the tasks of a job; it and the members take them until none is left. A member
// that has not started yet is not waited for: the others do its work.

#include "bindings/web/src/crew.h"

#include <stdint.h>

#include <atomic>

namespace {

// How often a thread looks for a change before it sleeps: for about half a millisecond. Between two
// kernels with work for it lie some that have none, and to wake up takes as long as one of them.
constexpr int kPatience = 400000;
constexpr int64_t kForever = -1;

// The number of the job in the upper half, and how many of its tasks nobody has taken in the lower.
// Taking one is counting down, which fails if the job has ended meanwhile. So whoever has taken a
// task reads what belongs to its job: that does not end before the task has.
std::atomic<uint64_t> offer{0};
std::atomic<uint32_t> unfinished{0};
std::atomic<bool> has_failed{false};
bool caller_may_sleep = true;
taper_task job_task = nullptr;
void* job_data = nullptr;

uint32_t left_of(uint64_t offered) { return static_cast<uint32_t>(offered); }

void wait(std::atomic<uint32_t>* place, uint32_t value) {
  __builtin_wasm_memory_atomic_wait32(reinterpret_cast<int*>(place), static_cast<int>(value),
                                      kForever);
}
void wait(std::atomic<uint64_t>* place, uint64_t value) {
  __builtin_wasm_memory_atomic_wait64(reinterpret_cast<long long*>(place),
                                      static_cast<long long>(value), kForever);
}
template <typename Number>
void wake_all(std::atomic<Number>* place) {
  __builtin_wasm_memory_atomic_notify(reinterpret_cast<int*>(place), UINT32_MAX);
}

// Returns when `place` no longer holds `value`.
template <typename Number>
void wait_for_change(std::atomic<Number>* place, Number value, bool may_sleep = true) {
  for (int i = 0; i < kPatience; ++i) {
    if (place->load(std::memory_order_acquire) != value) return;
  }
  while (place->load(std::memory_order_acquire) == value) {
    if (may_sleep) wait(place, value);
  }
}

void finish_task() {
  if (unfinished.fetch_sub(1, std::memory_order_acq_rel) == 1) wake_all(&unfinished);
}

// Takes a task and runs it; false if there is none.
bool run_one() {
  uint64_t offered = offer.load(std::memory_order_acquire);
  do {
    if (left_of(offered) == 0) return false;
  } while (!offer.compare_exchange_weak(offered, offered - 1, std::memory_order_acq_rel,
                                        std::memory_order_acquire));
  job_task(job_data, left_of(offered) - 1);
  finish_task();
  return true;
}

}  // namespace

void crew_run(void*, size_t count, taper_task task, void* data) {
  if (count == 0) return;
  job_task = task;
  job_data = data;
  unfinished.store(static_cast<uint32_t>(count), std::memory_order_relaxed);
  const uint64_t number = (offer.load(std::memory_order_relaxed) >> 32) + 1;
  offer.store(number << 32 | count, std::memory_order_release);
  wake_all(&offer);
  while (run_one()) {
  }
  for (uint32_t left; (left = unfinished.load(std::memory_order_acquire)) != 0;) {
    wait_for_change(&unfinished, left, caller_may_sleep);
  }
  if (has_failed.load(std::memory_order_relaxed)) __builtin_trap();
}

// Called where the thread that calls crew_run() must not sleep, as that of a page.
extern "C" void web_stay_awake() { caller_may_sleep = false; }

// What a member does. It never returns.
extern "C" void web_serve() {
  for (;;) {
    const uint64_t offered = offer.load(std::memory_order_acquire);
    if (!run_one()) wait_for_change(&offer, offered);
  }
}

// Called by a member whose task has trapped: the caller, which waits for it, traps then, too.
extern "C" void web_give_up() {
  has_failed.store(true, std::memory_order_relaxed);
  finish_task();
}
