// Counters of the processor and of the system, by instruction of a method: a tracer for runs of
// their own, since reading them takes longer than many instructions. They are of the thread that
// executes.

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "taper/event_tracer.h"

namespace taper::tools {

// What is counted; a system may allow only some of it.
enum class EventCounter : uint8_t { kCycles, kInstructions, kCacheMisses, kPageFaults };
inline constexpr size_t kCounters = 4;
const char* to_text(EventCounter counter);  // "cache_misses"

// Nothing of what the system does not allow.
using CounterValues = std::array<std::optional<double>, kCounters>;

class EventCounters final : public EventTracer {
 public:
  EventCounters();
  EventCounters(const EventCounters&) = delete;
  EventCounters& operator=(const EventCounters&) = delete;
  ~EventCounters();

  // What cannot be counted here and why; empty if everything can.
  const std::string& problem() const { return problem_; }

  void begin(uint32_t chain, uint32_t instruction) override;
  void used_temp(size_t) override {}
  void end() override;

  // Of one call of an instruction, on average.
  CounterValues of(uint32_t chain, uint32_t instruction) const;

 private:
  using Readings = std::array<uint64_t, kCounters>;
  struct Sum {
    Readings counts = {};
    uint64_t calls = 0;
  };
  Readings read() const;
  void close();

  std::array<int, kCounters> files_;
  std::string problem_;
  std::map<std::pair<uint32_t, uint32_t>, Sum> sums_;
  Sum* current_ = nullptr;
  Readings start_ = {};
};

}  // namespace taper::tools
