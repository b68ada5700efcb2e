// Picks a sub-command, and reports what it throws as one line and an exit code.
//
//   0  success   1  a file, a model or a value is wrong      2  the command line is wrong

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>

#include "exir/ir/failure.h"
#if TAPER_OPTIMIZED
#include "kernels_optimized/engine/max_isa.h"
#endif
#include "tools/commands.h"
#include "tools/error.h"
#include "tools/problems.h"
#include "tools/text/terminal.h"

namespace taper::tools {
namespace {

struct Command {
  const char* name;
  int (*run)(int argc, char** argv);
  const char* what;
};

constexpr Command kCommands[] = {
    {"export", export_command, "compile a PyTorch .pt2 into a .pte"},
    {"check", check_command, "list everything that prevents compiling a .pt2"},
    {"quantize", quantize_command, "turn a .pt2 into one with integers, from samples"},
    {"ops", ops_command, "list every operator: dialect, kernel, dtypes, who runs it"},
    {"run", run_command, "run a .pte on .npy inputs"},
    {"inspect", inspect_command, "show what is inside a .pte or a .pt2"},
    {"pack", pack_command, "add weights packed for this processor to a .pte"},
    {"bench", bench_command, "time a .pte: load, first run, steady state"},
    {"profile", profile_command, "show where the time of a .pte goes, by node and source line"},
    {"trace", trace_command, "write a timeline of a .pte for Perfetto or chrome://tracing"},
    {"view", view_command, "write a page that shows the graph, the passes and the memory"},
    {"compare", compare_command, "find the node at which a .pte begins to differ from its .pt2"},
    {"bundle", bundle_command, "put a .pte and test cases into one file for ExecuTorch's tools"},
    {"verify", verify_command, "check a .pte, and compare it with expected outputs"},
    {"sign", sign_command, "sign a .pte, so that it can be trusted where it arrives"},
    {"select", select_command, "choose the kernels that a binary needs for its programs"},
    {"batch", batch_command, "run many commands, one per line of a file"},
};

constexpr char kIntro[] =
    "taper compiles PyTorch models for devices: .pt2 in, .pte out, no Python.\n"
    "\n"
    "Usage:\n"
    "  taper COMMAND [OPTIONS]\n"
    "  taper COMMAND --help\n"
    "\n"
    "Commands:\n";

constexpr char kExample[] =
    "\n"
    "A first try:\n"
    "  taper export model.pt2 -o model.pte\n"
    "  taper run model.pte --inputs image.npy --outputs .\n"
    "\n"
    "Exit codes: 0 success, 1 a file, model or value is wrong, 2 the command line is wrong.\n";

void print_help() {
  std::fputs(kIntro, stdout);
  for (const Command& command : kCommands) std::printf("  %-9s %s\n", command.name, command.what);
  std::fputs(kExample, stdout);
}

int fail(int code, const std::string& message, const std::string& hint) {
  std::fflush(stdout);
  std::fprintf(stderr, "taper: %s %s\n", coloured(stderr, Colour::kRed, "error:").c_str(),
               one_line(message).c_str());
  if (!hint.empty()) std::fprintf(stderr, "Try '%s'.\n", hint.c_str());
  return code;
}

// A name that the kernels do not know would hide nothing from them.
bool is_known_isa() {
#if TAPER_OPTIMIZED
  const char* name = std::getenv("TAPER_MAX_ISA");
  return name == nullptr || optimized::isa_of(name).has_value();
#else
  return true;
#endif
}

// Prints the compiler's summary, and below it each problem that adds something.
int fail_with_diagnostics(const exir::Failure& failure) {
  fail(1, failure.what(), "");
  print_problems(stderr, failure.diagnostics(), failure.what());
  return 1;
}

int run(const Command& command, int argc, char** argv) {
  try {
    const int code = command.run(argc, argv);
    if (std::fflush(stdout) != 0) return fail(1, "cannot write the result to stdout", "");
    return code;
  } catch (const UsageError& error) {
    return fail(2, error.what(), std::string("taper ") + command.name + " --help");
  } catch (const exir::Failure& failure) {
    return fail_with_diagnostics(failure);
  } catch (const std::bad_alloc&) {
    return fail(1, "out of memory", "");
  } catch (const std::exception& error) {
    return fail(1, error.what(), "");
  }
}

}  // namespace

int run_taper(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "";
  if (std::strcmp(name, "--help") == 0 || std::strcmp(name, "-h") == 0 ||
      std::strcmp(name, "help") == 0) {
    print_help();
    return 0;
  }
  if (*name == '\0') return fail(2, "no command given", "taper --help");
  if (!is_known_isa()) {
    return fail(1, "TAPER_MAX_ISA is none of baseline, avx2, avx512 and avx512vnni", "");
  }
  for (const Command& command : kCommands) {
    if (std::strcmp(name, command.name) == 0) return run(command, argc - 1, argv + 1);
  }
  return fail(2, std::string("'") + name + "' is not a command", "taper --help");
}

}  // namespace taper::tools
