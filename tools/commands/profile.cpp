// taper profile: where the time of a method goes.

#include <cstdio>
#include <memory>

#include "tools/commands.h"
#include "tools/error.h"
#include "tools/options.h"
#include "tools/profile/profile_text.h"
#include "tools/profile/profiled_runner.h"
#include "tools/terminal.h"

namespace taper::tools {
namespace {

CommandLine describe() {
  std::vector<Option> run = profiled_run_options();
  run.push_back({"n,runs", "How often the method runs, after two runs to warm up", "N", "50"});
  return {
      "taper profile",
      "Shows where the time of a .pte goes: by node, operator, module and source line.\n\n"
      "A program tells where its instructions come from if that is small beside its weights, or\n"
      "if it was exported with --debug-info. Without --inputs every tensor is full of ones.\n",
      "FILE.pte [OPTIONS]",
      {{"Run", std::move(run)},
       {"Output",
        {{"by", "What to print: node, op, module, line", "A,B", "node,op"},
         {"top", "Print the N rows that take longest; 0: all, in the order in which they run", "N",
          "20"},
         {"against", "Say what is slower and faster than in another program", "OTHER.pte"},
         {"json", "Print JSON, with all rows"},
         {"csv", "Print all rows as comma-separated values"}}}}};
}

}  // namespace

int profile_command(int argc, char** argv) {
  CommandLine line = describe();
  if (!line.parse(argc, argv)) return 0;
  const size_t runs = line.integer("runs", 1, 1'000'000);
  const size_t top = line.integer("top", 0, 1'000'000);
  const std::vector<ProfileView> views =
      profile_views(line.given("by") ? line.list("by") : split_list(line.text("by")));
  if (line.given("json") && line.given("csv"))
    throw UsageError("--json and --csv exclude each other");
  Recorder recorder;
  const std::unique_ptr<ProgramRunner> runner = profiled_runner(line.file(), line, recorder);
  const ProfileResult result = profile(*runner, recorder, runs);
  for (const std::string& note : notes_on(result)) print_note(note);
  if (line.given("json")) {
    std::printf("%s\n", profile_json(result).c_str());
  } else if (line.given("csv")) {
    std::printf("%s", profile_csv(result).c_str());
  } else if (line.given("against")) {
    Recorder other;
    const auto before = profiled_runner(line.text("against"), line, other);
    print_difference(profile(*before, other, runs), result, top);
  } else {
    print_profile(result, measure_peaks(runner->kernels(), runner->pool()), views, top);
  }
  return 0;
}

}  // namespace taper::tools
