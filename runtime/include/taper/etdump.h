// ETDump: a recording of executions in ExecuTorch's trace format (.etdp), written for its Inspector
// and read from its runtime.
//
//   EtRecorder recorder;
//   device_options.profiler = &recorder;     // For what happens within delegates.
//   ...
//   method->execute(recorder);
//   recorder.finish_run(*method);
//   const std::vector<uint8_t> file = write_etdump(recorder.dump());
//
// It uses the heap, and is linked only where it is used (taper::devtools).

#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "taper/backend_device.h"
#include "taper/event_tracer.h"
#include "taper/method.h"
#include "taper/span.h"
#include "taper/status.h"
#include "taper/trace_clock.h"

namespace taper {

// Something that ran, with its times in nanoseconds.
struct EtEvent {
  std::string name;
  int32_t chain = -1;        // -1: not an instruction of the program, such as loading.
  int32_t instruction = -1;  // ExecuTorch writes 0 for what is none.
  // What ran within a delegate's call has one of these.
  int64_t delegate_number = -1;
  std::string delegate_name;
  uint64_t begin = 0, end = 0;
  // The scratch memory of a kernel. It is not in files: the Inspector refuses such events.
  uint64_t temp_bytes = 0;
};

// One execution, or all that came before it. ExecuTorch's names are "Execute" and "Default".
struct EtBlock {
  std::string name;
  int32_t bundled_input = -1;  // The number of the test case whose inputs it had.
  std::vector<EtEvent> events;
  // How many tensors and other values were recorded as well. They are read but not kept.
  size_t values = 0;
};

struct EtDump {
  std::vector<EtBlock> blocks;
};

// ExecuTorch's names of events.
inline constexpr char kEtExecute[] = "Method::execute", kEtInit[] = "Method::init";
inline constexpr char kEtLoad[] = "Program::load_method", kEtOperator[] = "OPERATOR_CALL";
inline constexpr char kEtDelegate[] = "DELEGATE_CALL", kEtKernel[] = "native_call_";
// And of blocks.
inline constexpr char kEtRun[] = "Execute", kEtLoading[] = "Default";

// Gives each of several events of one name its own, since ExecuTorch's Inspector takes events of
// the same name for one: "add", "add #2". `taken` are the names so far.
std::string unique_name(std::set<std::string>& taken, const std::string& name);

// Records executions of one method on the thread that executes: instructions, and what backends
// tell of their steps. Nothing but such a step takes memory while the method runs.
class EtRecorder final : public EventTracer, public Profiler {
 public:
  // Of each execution, the last `most` instructions are kept. Takes two milliseconds, for its
  // TraceClock.
  explicit EtRecorder(size_t most = 65536);

  void begin(uint32_t chain, uint32_t instruction) override { ring_.begin(chain, instruction); }
  void used_temp(size_t bytes) override { ring_.used_temp(bytes); }
  void end() override { ring_.end(); }
  void add(const ProfiledStep& step) override;

  uint64_t now() const { return clock_.now(); }
  // Tells how long loading took, in what now() counts.
  void add_loading(uint64_t begin, uint64_t end);
  // Makes a block of what was recorded since the last one. Call it after each execution, also after
  // one that failed. `bundled_input` is the number of a test case, or -1. Returns false, and makes
  // none, if no instruction ran.
  bool finish_run(const Method& method, int32_t bundled_input = -1);

  const EtDump& dump() const { return dump_; }

 private:
  struct Step {
    uint64_t number;  // Of its instruction in this execution.
    std::string op;
    double begin, seconds;
  };

  void add_steps(uint64_t number, const EtEvent& call, EtBlock& block);

  TraceClock clock_;
  std::vector<TraceRecord> memory_;
  TraceRing ring_;
  std::vector<Step> steps_;
  EtDump dump_;
};

std::vector<uint8_t> write_etdump(const EtDump& dump);

// Returns kInvalidProgram, with the reason, for a file that is damaged or of another version.
// Events may be of any program: nothing is known of what they refer to.
Result<EtDump> read_etdump(Span<const uint8_t> file);

}  // namespace taper
