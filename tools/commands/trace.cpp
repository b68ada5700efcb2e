// taper trace: a timeline of a few runs.

#include <cstdio>
#include <memory>

#include "tools/atomic_file.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/profile/chrome_trace.h"
#include "tools/profile/profile_text.h"
#include "tools/profile/profiled_runner.h"
#include "tools/terminal.h"

namespace taper::tools {
namespace {

CommandLine describe() {
  std::vector<Option> run = profiled_run_options();
  run.push_back({"n,runs", "How many runs to write, after two runs to warm up", "N", "3"});
  return {
      "taper trace",
      "Writes a timeline of a .pte in Chrome's trace format, which https://ui.perfetto.dev and\n"
      "chrome://tracing open. Without --inputs every tensor is full of ones.\n",
      "FILE.pte [OPTIONS]",
      {{"Run", std::move(run)},
       {"Output", {{"o,output", "The file to write", "TRACE.json", "trace.json"}}}}};
}

}  // namespace

int trace_command(int argc, char** argv) {
  CommandLine line = describe();
  if (!line.parse(argc, argv)) return 0;
  const size_t runs = line.integer("runs", 1, 10'000);
  Recorder recorder;
  const std::unique_ptr<ProgramRunner> runner = profiled_runner(line.file(), line, recorder);
  const ProfileResult result = profile(*runner, recorder, runs);
  for (const std::string& note : notes_on(result)) print_note(note);
  const std::string output = line.text("output");
  write_file(output, chrome_trace(recorder, result));
  size_t events = 0;
  for (const std::vector<RecordedEvent>& each : recorder.runs()) events += each.size();
  std::printf("%s  %zu events of %zu runs\n", output.c_str(), events, runs);
  return 0;
}

}  // namespace taper::tools
