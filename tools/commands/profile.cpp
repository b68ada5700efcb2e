// taper profile: where the time of a method goes.

#include <cstdio>
#include <memory>

#include "tools/atomic_file.h"
#include "tools/commands.h"
#include "tools/commands/json_option.h"
#include "tools/error.h"
#include "tools/options.h"
#include "tools/profile/etdump_file.h"
#include "tools/profile/profile_text.h"
#include "tools/profile/profiled_runner.h"
#include "tools/text/terminal.h"

namespace taper::tools {
namespace {

CommandLine describe() {
  std::vector<Option> run = profiled_run_options();
  run.push_back({"n,runs", "How often the method runs, after two runs to warm up", "N", "50"});
  return {
      "taper profile",
      "Shows where the time of a .pte goes: by node, operator, module and source line.\n\n"
      "A program tells where its instructions come from if that is small beside its weights, or\n"
      "if it was exported with --debug-info. Without --inputs every tensor is full of ones.\n\n"
      "A file may also be an ETDump (.etdp), which ExecuTorch's runtime, 'executor_runner\n"
      "--etdump_path' and --etdump write: then nothing runs, and the options of runs do nothing.\n",
      "FILE.pte|FILE.etdp [OPTIONS]",
      {{"Run", std::move(run)},
       {"Output",
        {{"counters",
          "Also count cycles, instructions, cache misses and page faults of each instruction, as "
          "far as the system allows, on the thread that executes and in runs of their own"},
         {"by", "What to print: node, op, module, line", "A,B", "node,op"},
         {"top", "Print the N rows that take longest; 0: all, in the order in which they run", "N",
          "20"},
         {"against", "Say what is slower and faster than in another program or ETDump", "OTHER"},
         {"etdump", "Write all runs for ExecuTorch's Inspector too", "OUT.etdp"},
         json_option(", with all rows"),
         {"csv", "Print all rows as comma-separated values"}}}}};
}

// What is known of a program, which runs, or of an ETDump.
struct Profiled {
  Recorder recorder;
  std::unique_ptr<ProgramRunner> runner;  // Null for an ETDump.
  ProfileResult result;
};

void make_profile(const std::string& path, const CommandLine& line, size_t runs, Profiled* to) {
  if (is_etdump(path)) {
    to->result = read_profile(path);
    return;
  }
  to->runner = profiled_runner(path, line, to->recorder);
  to->result = profile(*to->runner, to->recorder, runs);
  if (line.given("counters")) print_note(count(*to->runner, runs, &to->result));
  for (const std::string& note : notes_on(to->result)) print_note(note);
}

// "conv2d, relu, ...", which tells models apart.
std::string first_names(const ProfileResult& result) {
  constexpr size_t kShown = 3;
  std::string names;
  for (size_t i = 0; i < result.rows.size() && i < kShown; ++i) {
    names += (i == 0 ? "" : ", ") + result.rows[i].name;
  }
  return names + (result.rows.size() > kShown ? ", ..." : "");
}

void write_etdump_of(const Profiled& profiled, const std::string& path) {
  if (profiled.runner == nullptr) throw UsageError("--etdump needs a program, not an ETDump");
  const std::vector<uint8_t> file = write_etdump(etdump_of(profiled.recorder, profiled.result));
  write_file(path, {reinterpret_cast<const char*>(file.data()), file.size()});
}

}  // namespace

int profile_command(int argc, char** argv) {
  CommandLine line = describe();
  if (!line.parse(argc, argv)) return 0;
  const size_t runs = line.integer("runs", 1, 1'000'000);
  const size_t top = line.integer("top", 0, 1'000'000);
  const std::vector<ProfileView> views =
      profile_views(line.given("by") ? line.list("by") : split_list(line.text("by")));
  if (line.given("csv") && line.text("json") == kNoValue)
    throw UsageError("--json and --csv exclude each other");
  Profiled given;
  make_profile(line.file(), line, runs, &given);
  if (line.given("etdump")) write_etdump_of(given, line.text("etdump"));
  if (!give_json(line, profile_json(given.result))) return 0;
  if (line.given("csv")) {
    std::printf("%s", profile_csv(given.result).c_str());
  } else if (line.given("against")) {
    Profiled other;
    make_profile(line.text("against"), line, runs, &other);
    if (!print_difference(other.result, given.result, top)) {
      throw InputError("'" + line.file() + "' (" + first_names(given.result) + ") and '" +
                       line.text("against") + "' (" + first_names(other.result) +
                       ") are not of the same model: their names differ");
    }
  } else {
    Peaks peaks;
    if (given.runner != nullptr) {
      peaks = measure_peaks(given.runner->kernels(), given.runner->pool());
    }
    print_profile(given.result, peaks, views, top);
  }
  return 0;
}

}  // namespace taper::tools
