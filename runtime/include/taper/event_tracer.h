// EventTracer: hears of every instruction of an execution, for an application that wants to know
// where the time goes, or what values are in between.
//
//   TraceRecord records[1000];
//   TraceClock clock;
//   TraceRing ring(records, clock.counter());
//   method->execute(ring);
//   for (size_t i = 0; i < ring.size(); ++i) use(ring[i], clock.seconds(ring[i].end));
//
// A program that traces nothing links nothing of it. What a backend does within one of its calls,
// it tells a Profiler (taper/backend_device.h). taper/etdump.h makes a file of what was recorded.

#pragma once

#include <cstddef>
#include <cstdint>

#include "taper/span.h"

namespace taper {

// Called by Method::execute(tracer), on the thread that executes. Method::instruction() says what
// an instruction is. Each is computed by itself, also where execute() lets a kernel compute two.
class EventTracer {
 public:
  // An instruction begins; the one before it, if any, has ended.
  virtual void begin(uint32_t chain, uint32_t instruction) = 0;
  // The kernel that began last has taken this much temp memory. Not called for those that take
  // none.
  virtual void used_temp(size_t bytes) { (void)bytes; }
  // The instruction that began last, if any, has ended or has failed, and the execution with it.
  virtual void end() = 0;

 protected:
  ~EventTracer() = default;
};

// One instruction that ran, in what the clock counts.
struct TraceRecord {
  uint64_t begin, end;
  uint32_t chain, instruction;
  uint64_t temp_bytes;  // The scratch memory that its kernel took.
};

// Keeps the last instructions in memory of the application, which must outlive it. It takes no
// memory and no lock.
class TraceRing final : public EventTracer {
 public:
  // `clock` is called once for each instruction, and once at the end.
  TraceRing(Span<TraceRecord> memory, uint64_t (*clock)())
      : memory_(memory), clock_(clock), current_(&none_) {}
  TraceRing(const TraceRing&) = delete;
  TraceRing& operator=(const TraceRing&) = delete;

  void begin(uint32_t chain, uint32_t instruction) override {
    const uint64_t now = clock_();
    current_->end = now;
    current_ = next_slot();
    *current_ = {now, now, chain, instruction, 0};
    ++count_;
  }
  void used_temp(size_t bytes) override { current_->temp_bytes = bytes; }
  void end() override {
    current_->end = clock_();
    current_ = &none_;
  }

  // Forgets everything. REQUIRES: nothing is executing.
  void clear() { count_ = next_ = 0; }
  // How many instructions ran; the first of them are lost if they are more than fit.
  uint64_t count() const { return count_; }
  size_t size() const {
    return count_ < memory_.size() ? static_cast<size_t>(count_) : memory_.size();
  }
  // Those that are kept, the oldest first. REQUIRES: i < size().
  const TraceRecord& operator[](size_t i) const {
    const size_t first = count_ > memory_.size() ? next_ : 0;
    return memory_[i < memory_.size() - first ? first + i : first + i - memory_.size()];
  }

 private:
  TraceRecord* next_slot() {
    if (memory_.size() == 0) return &none_;
    TraceRecord* const slot = &memory_[next_];
    if (++next_ == memory_.size()) next_ = 0;
    return slot;
  }

  Span<TraceRecord> memory_;
  uint64_t (*clock_)();
  TraceRecord* current_;  // &none_ while nothing executes.
  TraceRecord none_ = {};
  size_t next_ = 0;
  uint64_t count_ = 0;
};

}  // namespace taper
