// EventTracer: hears of every instruction of an execution, for an application that wants to know
// where the time goes, or what values are in between.
//
//   TraceRecord records[1000];
//   TraceRing ring(records, now_ns);
//   method->execute(ring);
//   for (size_t i = 0; i < ring.size(); ++i) use(ring[i]);
//
// A program that traces nothing links nothing of it. What a backend does within one of its calls,
// it tells a Profiler (taper/backend_device.h).

#pragma once

#include <cstddef>
#include <cstdint>

#include "taper/span.h"

namespace taper {

// Called by Method::execute(tracer), on the thread that executes. Method::instruction() says what
// an instruction is.
class EventTracer {
 public:
  virtual void begin(uint32_t chain, uint32_t instruction) = 0;
  // The instruction that began last has ended, or has failed.
  virtual void end() = 0;

 protected:
  ~EventTracer() = default;
};

// One instruction that ran, in what the clock counts.
struct TraceRecord {
  uint64_t begin, end;
  uint32_t chain, instruction;
};

// Keeps the last instructions in memory of the application, which must outlive it. It takes no
// memory and no lock.
class TraceRing final : public EventTracer {
 public:
  // `clock` is called twice for each instruction.
  TraceRing(Span<TraceRecord> memory, uint64_t (*clock)()) : memory_(memory), clock_(clock) {}

  void begin(uint32_t chain, uint32_t instruction) override {
    now_ = {0, 0, chain, instruction};
    now_.begin = clock_();
  }
  void end() override {
    now_.end = clock_();
    if (memory_.size() != 0) memory_[count_ % memory_.size()] = now_;
    ++count_;
  }

  void clear() { count_ = 0; }
  // How many instructions have ended; the first of them are lost if they are more than fit.
  uint64_t count() const { return count_; }
  size_t size() const {
    return count_ < memory_.size() ? static_cast<size_t>(count_) : memory_.size();
  }
  // Those that are kept, the oldest first. REQUIRES: i < size().
  const TraceRecord& operator[](size_t i) const {
    const uint64_t first = count_ - size();
    return memory_[static_cast<size_t>((first + i) % memory_.size())];
  }

 private:
  Span<TraceRecord> memory_;
  uint64_t (*clock_)();
  TraceRecord now_ = {};
  uint64_t count_ = 0;
};

}  // namespace taper
