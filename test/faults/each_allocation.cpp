// A copy that is made at the allocation has nothing to repeat, so that tens of thousands of
// allocations can fail. It goes on from there, in the scenario that this process runs, to the end.

#include "test/faults/each_allocation.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "test/faults/failing_heap.h"

namespace taper::test {
namespace {

// The exit codes of a copy.
enum Outcome { kClean = 0, kWrongCode = 1, kLost = 2, kThrown = 3 };
constexpr const char* kOutcomes[] = {"is clean", "does not say that memory was short",
                                     "loses memory", "lets an exception out"};
constexpr uint64_t kMost = 1000;
constexpr unsigned kMostSeconds = 300;  // Of a copy.

struct Failures {
  uint64_t begin = 0;           // The number of allocations before the scenario.
  uint64_t step = 1, next = 1;  // The next one that fails, counted from the beginning of it.
  uint64_t tried = 0;
  bool is_copy = false;
  uint64_t bad = 0;  // The first one that does not end as it may, and how it ends.
  int status = 0;
} failures;

// Makes the copy in which the n-th allocation fails. Returns whether this process is that copy.
bool becomes_copy(uint64_t n) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(kMostSeconds);
    failures.is_copy = true;
    return true;
  }
  ++failures.tried;
  int status = -1;
  if (child < 0 || ::waitpid(child, &status, 0) != child) status = -1;
  if (status == 0) return false;
  failures.bad = n;
  failures.status = status;
  return false;
}

// Whether the current allocation fails: in the copy that is made here.
bool fails_in_copy() {
  const uint64_t n = allocations() - failures.begin;
  if (n != failures.next || failures.bad != 0) return false;
  failures.next += failures.step;
  if (!becomes_copy(n)) return false;
  ask_before_allocations(nullptr);
  return true;
}

// No exception may come to the test, which would go on in the copy, too.
Outcome outcome_of(const std::function<bool()>& scenario) {
  const int64_t before = live_allocations();
  try {
    if (!scenario()) return kWrongCode;
  } catch (...) {
    return kThrown;
  }
  return live_allocations() == before ? kClean : kLost;
}

Outcome fails_once(const std::function<bool()>& scenario, uint64_t n) {
  fail_allocation(n);
  const Outcome outcome = outcome_of(scenario);
  fail_allocation(0);
  return outcome;
}

void copy_at_allocations(const std::function<bool()>& scenario) {
  failures.begin = allocations();
  ask_before_allocations(fails_in_copy);
  const Outcome outcome = outcome_of(scenario);
  ask_before_allocations(nullptr);
  if (failures.is_copy) ::_exit(outcome);
  EXPECT_EQ(outcome, kClean) << "nothing failed, and it " << kOutcomes[outcome];
}

void copy_at_beginning(const std::function<bool()>& scenario, uint64_t count) {
  for (uint64_t n = 1; n <= count && failures.bad == 0; n += failures.step) {
    if (becomes_copy(n)) ::_exit(fails_once(scenario, n));
  }
}

std::string how_it_ends(int status) {
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
  const int code = WEXITSTATUS(status);
  return code <= kThrown ? kOutcomes[code] : "exits with " + std::to_string(code);
}

}  // namespace

void every_allocation_fails_once(const std::function<bool()>& scenario, Copied copied) {
  ASSERT_TRUE(scenario());  // What is made once per process is made now.
  const uint64_t before = allocations();
  ASSERT_TRUE(scenario());
  const uint64_t count = allocations() - before;
  if (count == 0) GTEST_SKIP() << "the sanitizer's heap does not fail";
  if (const char* number = std::getenv("TAPER_FAULT")) {
    const Outcome outcome = fails_once(scenario, std::strtoull(number, nullptr, 10));
    ASSERT_EQ(outcome, kClean) << kOutcomes[outcome];
    return;
  }
  const char* const wanted = std::getenv("TAPER_FAULTS");
  const bool all = wanted != nullptr && std::string(wanted) == "all";
  failures = {};
  failures.step = all ? 1 : count / kMost + 1;
  if (copied == Copied::kAtTheAllocation) {
    copy_at_allocations(scenario);
  } else {
    copy_at_beginning(scenario, count);
  }
  EXPECT_EQ(failures.bad, 0u) << "allocation " << failures.bad << " of " << count
                              << " fails: " << how_it_ends(failures.status);
  if (!all) return;
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  std::printf("faults: %s.%s %llu of %llu, %s\n", test->test_suite_name(), test->name(),
              static_cast<unsigned long long>(failures.tried),
              static_cast<unsigned long long>(count),
              failures.bad == 0 ? "nothing reported" : "stopped by a finding");
}

}  // namespace taper::test
