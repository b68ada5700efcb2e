// Counts with Linux's perf_event_open, in the program alone and not in the kernel, which is what
// systems allow to everybody by default.

#include "tools/profile/counters.h"

#include <cerrno>
#include <cstring>

#ifdef __linux__
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace taper::tools {
namespace {

constexpr EventCounter kAll[] = {EventCounter::kCycles, EventCounter::kInstructions,
                                 EventCounter::kCacheMisses, EventCounter::kPageFaults};

#ifdef __linux__
// Returns a negative number with errno if the system does not allow it.
int open_counter(EventCounter counter) {
  constexpr std::pair<uint32_t, uint64_t> kEvents[] = {
      {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
      {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
      {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
      {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS}};
  struct perf_event_attr event {};
  event.size = sizeof(event);
  event.type = kEvents[static_cast<size_t>(counter)].first;
  event.config = kEvents[static_cast<size_t>(counter)].second;
  event.exclude_kernel = 1;
  event.exclude_hv = 1;
  return static_cast<int>(::syscall(SYS_perf_event_open, &event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

uint64_t read_counter(int file) {
  uint64_t count = 0;
  if (file < 0 || ::read(file, &count, sizeof(count)) != sizeof(count)) return 0;
  return count;
}

void close_counter(int file) {
  if (file >= 0) ::close(file);
}
#else
int open_counter(EventCounter) {
  errno = ENOSYS;
  return -1;
}
uint64_t read_counter(int) { return 0; }
void close_counter(int) {}
#endif

}  // namespace

const char* to_text(EventCounter counter) {
  constexpr const char* kNames[] = {"cycles", "instructions", "cache_misses", "page_faults"};
  return kNames[static_cast<size_t>(counter)];
}

EventCounters::EventCounters() {
  for (const EventCounter counter : kAll) {
    int& file = files_[static_cast<size_t>(counter)];
    file = open_counter(counter);
    if (file >= 0) continue;
    const char* why = std::strerror(errno);
    problem_ += (problem_.empty() ? "this system does not let this program count " : ", ") +
                std::string(to_text(counter)) + " (" + why + ")";
  }
}

EventCounters::~EventCounters() {
  for (const int file : files_) close_counter(file);
}

EventCounters::Readings EventCounters::read() const {
  Readings readings;
  for (size_t i = 0; i < kCounters; ++i) readings[i] = read_counter(files_[i]);
  return readings;
}

void EventCounters::close() {
  if (current_ == nullptr) return;
  const Readings now = read();
  for (size_t i = 0; i < kCounters; ++i) current_->counts[i] += now[i] - start_[i];
  ++current_->calls;
  current_ = nullptr;
}

void EventCounters::begin(uint32_t chain, uint32_t instruction) {
  close();
  current_ = &sums_[{chain, instruction}];
  start_ = read();
}

void EventCounters::end() { close(); }

CounterValues EventCounters::of(uint32_t chain, uint32_t instruction) const {
  CounterValues values;
  const auto found = sums_.find({chain, instruction});
  if (found == sums_.end() || found->second.calls == 0) return values;
  for (size_t i = 0; i < kCounters; ++i) {
    if (files_[i] < 0) continue;
    values[i] =
        static_cast<double>(found->second.counts[i]) / static_cast<double>(found->second.calls);
  }
  return values;
}

}  // namespace taper::tools
