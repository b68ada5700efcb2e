// The devices of this build, their packed-weight files, and the --backend option.

#include "tools/backends.h"

#include <optional>
#include <vector>

#include "backends/compilers.h"
#include "exir/ir/failure.h"
#include "tools/error.h"
#include "tools/interrupt.h"
#include "tools/own_threads.h"

namespace taper::tools {
namespace {

struct Held {
  std::string packed_path;  // Must outlive the device.
  std::unique_ptr<Device> device;
};

// Saves the packed weights of one backend; returns a note for the user, or an empty string.
std::string save_packed_of(const Held& held, const std::string& program) {
  const PackedReport report = held.device->packed_report();
  std::string note;
  if (*report.program_problem != 0) {
    note = std::string("the ") + report.what + " in '" + program +
           "' are not used: " + report.program_problem;
  }
  const std::string& path = held.packed_path;
  if (path.empty()) return note;
  const Status saved = [&] {
    const SignalsWait whole_or_not_at_all;
    return held.device->save_packed();
  }();
  if (report.packed == 0) return note;
  if (!note.empty()) note += "; ";
  note += std::string(report.what) + ": '" + path + "' ";
  if (*report.problem != 0) {
    note += std::string("is not used: ") + report.problem;
    note += saved.ok() ? "; it is rebuilt" : "; it cannot be rebuilt: ";
  } else {
    note += saved.ok() ? "is written" : "cannot be written: ";
  }
  return note + saved.message();
}

void add_note(std::string& notes, const std::string& note) {
  if (!note.empty()) notes += (notes.empty() ? "" : "; ") + note;
}

std::string option_line(const exir::CompileOption& option) {
  std::string name = std::string(option.key) + "=";
  name += option.kind == exir::CompileOption::Kind::kFlag
              ? "0|1"
              : std::to_string(option.least) + ".." + std::to_string(option.most);
  name.resize(std::max<size_t>(name.size() + 2, 30), ' ');
  return "    " + name + std::string(option.help) + " (" + std::to_string(option.standard) + ")\n";
}

}  // namespace

struct Backends::State {
  std::vector<Held> held;
  std::vector<Backend> table;
  std::optional<OwnThreads> threads;  // Used if no backend has threads that can run kernels.
  ThreadPool pool;
};

Backends::Backends(const BackendOptions& options) : state_(std::make_unique<State>()) {
  const auto devices = backend_devices();
  state_->held.resize(devices.size());
  bool has_threads = false;
  for (size_t i = 0; i < devices.size(); ++i) {
    Held& held = state_->held[i];
    const auto path = options.packed_paths.find(devices[i]->identity.name);
    if (path != options.packed_paths.end()) held.packed_path = path->second;
    DeviceOptions given;
    given.threads = options.threads;
    given.numbers = options.numbers;
    given.profiler = options.profiler;
    if (!held.packed_path.empty()) given.packed_path = held.packed_path.c_str();
    held.device = devices[i]->make(given);
    if (held.device == nullptr) throw std::bad_alloc();
    state_->table.push_back({devices[i]->identity.delegate_id, &held.device->interface()});
    if (!has_threads && held.device->has_threads()) state_->pool = held.device->thread_pool();
    has_threads = has_threads || held.device->has_threads();
  }
  if (!has_threads) state_->pool = state_->threads.emplace(options.threads).thread_pool();
}

Backends::~Backends() = default;

BackendTable Backends::table() const { return state_->table; }
ThreadPool Backends::thread_pool() const { return state_->pool; }

std::string Backends::save_packed(const std::string& program) {
  std::string notes;
  for (const Held& held : state_->held) add_note(notes, save_packed_of(held, program));
  return notes;
}

void Backends::tell_memory(const BackendInterface* backend, const void* handle,
                           MemoryListener& listener) const {
  for (const Held& held : state_->held) {
    if (&held.device->interface() == backend) held.device->tell_memory(handle, listener);
  }
}

std::string Backends::device_notes() const {
  std::string notes;
  for (const Held& held : state_->held) add_note(notes, held.device->note());
  return notes;
}

exir::BackendCompilers compilers_of(const std::string& text, exir::Numerals numerals,
                                    const char* option) {
  try {
    return exir::make_compilers(text, backend_compilers(), numerals);
  } catch (const exir::Failure& failure) {
    throw UsageError(std::string(option) + ": " + failure.what());
  }
}

std::string backend_names() {
  std::string names = "portable";
  for (const exir::CompilerDescriptor* each : backend_compilers()) {
    names += std::string(", ") + each->identity.name;
  }
  return names;
}

std::string first_backend() {
  for (const exir::CompilerDescriptor* each : backend_compilers()) {
    if (find_device(each->identity.name) != nullptr) return each->identity.name;
  }
  return "portable";
}

std::string list_backends() {
  std::string text = "portable  the kernels, which run the nodes that no backend takes\n";
  for (const exir::CompilerDescriptor* each : backend_compilers()) {
    text += std::string(each->identity.name) + "  " + each->identity.delegate_id;
    text += remedy_for(each->identity.delegate_id) + "\n";
    for (const exir::CompileOption& option : each->options) text += option_line(option);
  }
  return text;
}

std::string remedy_for(const std::string& delegate_id) {
  for (const exir::CompilerDescriptor* each : backend_compilers()) {
    if (delegate_id != each->identity.delegate_id) continue;
    if (find_device(each->identity.name) != nullptr) return {};
    return std::string("; this taper was built without ") + each->identity.name + ": " +
           std::string(each->remedy);
  }
  return {};
}

}  // namespace taper::tools
