// Recordings of taper/taper.h.

#include <new>
#include <utility>

#include "runtime/module/c_call.h"
#include "taper/backend_device.h"
#include "taper/etdump.h"

// NOLINTBEGIN(readability-identifier-naming): C's names.
struct taper_recording {
  taper::EtRecorder recorder;
  taper_on_event on_event = nullptr;
  void* context = nullptr;
  std::vector<uint8_t> file;
};
// NOLINTEND(readability-identifier-naming)

namespace taper {
namespace {

thread_local Profiler* current = nullptr;

// Steps of this thread go to the recorder during its life.
class Recording {
 public:
  explicit Recording(Profiler* recorder) : outer_(std::exchange(current, recorder)) {}
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording() { current = outer_; }

 private:
  Profiler* const outer_;
};

taper_code run_recorded(Call& call, EtRecorder& recorder) {
  const Recording recording(&recorder);
  return run(call,
             [&](Module& module, const std::string& name, Span<const EValue> inputs,
                 std::vector<EValue>* outputs) -> Status {
               Result<std::vector<EValue>> made = module.execute(name, inputs, recorder);
               if (made.ok()) *outputs = std::move(*made);
               return made.status();
             });
}

struct Forwarding final : Profiler {
  void add(const ProfiledStep& step) override {
    if (current != nullptr) current->add(step);
  }
};

// Tells the application of the last run.
void tell(const taper_recording& recording) {
  if (recording.on_event == nullptr) return;
  int32_t step = -1;
  for (const EtEvent& event : recording.recorder.dump().blocks.back().events) {
    if (event.chain < 0) continue;  // The whole run.
    const bool is_step = !event.delegate_name.empty();
    step = is_step ? step + 1 : -1;
    const taper_event told = {is_step ? event.delegate_name.c_str() : event.name.c_str(),
                              event.chain,
                              event.instruction,
                              step,
                              event.begin,
                              event.end,
                              event.temp_bytes};
    recording.on_event(recording.context, &told);
  }
}

}  // namespace

Profiler& profiler_of_this_thread() {
  static Forwarding forwarding;
  return forwarding;
}

}  // namespace taper

extern "C" {

taper_recording* taper_start_recording(taper_on_event on_event, void* context) {
  taper_recording* const recording = taper::make_or_null<taper_recording>().release();
  if (recording == nullptr) return nullptr;
  recording->on_event = on_event;
  recording->context = context;
  return recording;
}

taper_code taper_run_recorded(taper_model model, const char* method, taper_recording* recording,
                              taper_error* error) {
  return taper::on_method(__func__, model, method, error, [&](taper::Call& call) {
    if (!call.asks(recording, "recording")) return call.code();
    taper::EtRecorder& recorder = recording->recorder;
    const taper_code code = taper::run_recorded(call, recorder);
    const taper::Method* const ran = call.model().module.method(call.method().name);
    if (ran != nullptr && recorder.finish_run(*ran)) taper::tell(*recording);
    return code;
  });
}

taper_code taper_recorded_file(taper_recording* recording, const void** data, size_t* size,
                               taper_error* error) {
  if (recording == nullptr || data == nullptr || size == nullptr) {
    return taper::report(
        error, taper::Error::kInvalidArgument, __func__,
        recording == nullptr ? "recording is a null pointer" : "data or size is a null pointer");
  }
  return taper::with_memory(__func__, error, [&] {
    recording->file = taper::write_etdump(recording->recorder.dump());
    *data = recording->file.data();
    *size = recording->file.size();
    return taper::report(error, taper::Error::kOk, "", "");
  });
}

void taper_end_recording(taper_recording* recording) { delete recording; }

}  // extern "C"
