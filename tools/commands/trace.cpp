// taper trace: a timeline of a few runs.

#include <cstdio>
#include <memory>

#include "tools/atomic_file.h"
#include "tools/commands.h"
#include "tools/error.h"
#include "tools/options.h"
#include "tools/profile/chrome_trace.h"
#include "tools/profile/etdump_file.h"
#include "tools/profile/etdump_timeline.h"
#include "tools/profile/perfetto_trace.h"
#include "tools/profile/profile_text.h"
#include "tools/profile/profiled_runner.h"
#include "tools/text/terminal.h"

namespace taper::tools {
namespace {

CommandLine describe() {
  std::vector<Option> run = profiled_run_options();
  run.push_back({"n,runs", "How many runs to write, after two runs to warm up", "N", "3"});
  return {
      "taper trace",
      "Writes a timeline of a .pte: instructions, steps within delegates, threads of kernels, and\n"
      "memory. The name of the file says in which format: .pftrace is Perfetto's own, which\n"
      "https://ui.perfetto.dev opens; .etdp is for ExecuTorch's Inspector; anything else is\n"
      "Chrome's JSON, which Perfetto and chrome://tracing open. Without --inputs every tensor is\n"
      "full of ones, or of a .bpte the first test case is taken. Of an ETDump the timeline of "
      "what\n"
      "it recorded is written.\n",
      "FILE.pte|FILE.etdp [OPTIONS]",
      {{"Run", std::move(run)},
       {"Output", {{"o,output", "The file to write", "TRACE", "trace.json"}}}}};
}

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.npos, end) == 0;
}

// The planned memory of the method that runs.
MethodMemory memory_of(const ProgramRunner& runner, const std::string& path) {
  std::string program;
  if (runner.bundle() == nullptr) {
    program = read_file(path);
  } else {
    const Span<const uint8_t> bytes = runner.bundle()->program();
    program.assign(bytes.begin(), bytes.end());
  }
  for (MethodMemory& each : read_memory(program)) {
    if (each.name == runner.meta().name()) return std::move(each);
  }
  return {};
}

std::string for_viewer(const Timeline& timeline, const std::string& output) {
  return ends_with(output, ".pftrace") ? perfetto_trace(timeline) : chrome_trace(timeline);
}

std::string trace_bytes(const ProgramRunner& runner, const Recorder& recorder,
                        const ProfileResult& result, const std::string& path,
                        const std::string& output) {
  if (ends_with(output, ".etdp")) {
    const std::vector<uint8_t> bytes = write_etdump(etdump_of(recorder, result));
    return {bytes.begin(), bytes.end()};
  }
  const MethodMemory memory = memory_of(runner, path);
  return for_viewer(timeline_of(recorder, result, memory), output);
}

// Converts an ETDump.
int convert(const std::string& path, const std::string& output) {
  if (ends_with(output, ".etdp")) throw UsageError("'" + path + "' is an ETDump already");
  const EtDump dump = read_etdump_file(path);
  const Timeline timeline = timeline_of(dump);
  write_file(output, for_viewer(timeline, output));
  std::printf("%s  %zu events\n", output.c_str(), timeline.slices.size());
  return 0;
}

}  // namespace

int trace_command(int argc, char** argv) {
  CommandLine line = describe();
  if (!line.parse(argc, argv)) return 0;
  const size_t runs = line.integer("runs", 1, 10'000);
  if (is_etdump(line.file())) return convert(line.file(), line.text("output"));
  Recorder recorder;
  const std::unique_ptr<ProgramRunner> runner = profiled_runner(line.file(), line, recorder);
  const ProfileResult result = profile(*runner, recorder, runs);
  for (const std::string& note : notes_on(result)) print_note(note);
  const std::string output = line.text("output");
  write_file(output, trace_bytes(*runner, recorder, result, line.file(), output));
  size_t events = 0;
  for (const std::vector<RecordedEvent>& each : recorder.runs()) events += each.size();
  std::printf("%s  %zu events of %zu runs\n", output.c_str(), events, runs);
  return 0;
}

}  // namespace taper::tools
