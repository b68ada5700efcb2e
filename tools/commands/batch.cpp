// taper batch: runs many command lines in one process, so that a script starts only one.

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

#include "tools/atomic_file.h"
#include "tools/commands.h"
#include "tools/error.h"
#include "tools/options.h"
#include "tools/system.h"

namespace taper::tools {
namespace {

CommandLine describe() {
  return {
      "taper batch",
      "Runs many commands in one process, one per line:\n"
      "  export model.pt2 -o model.pte\n"
      "  run model.pte --inputs \"my image.npy\" --outputs out\n\n"
      "Words are separated by blanks; double quotes keep a word together. Empty lines and\n"
      "lines that begin with # are skipped. A command that fails does not end the batch.\n"
      "After each command a line such as 'line 2: exit 0' is written to stdout. '-' reads\n"
      "from stdin; from there, or from a pipe, each command runs as soon as its line arrives.\n",
      "FILE|-",
      {{"Batch", {}}}};
}

// Splits a line into words. Throws InputError for an unterminated quote.
std::vector<std::string> words_of(const std::string& line, size_t number) {
  std::vector<std::string> words;
  bool quoted = false, in_word = false;
  for (const char c : line) {
    const bool blank = !quoted && (c == ' ' || c == '\t' || c == '\r');
    if (!blank && !in_word) words.emplace_back();
    in_word = !blank;
    if (c == '"') {
      quoted = !quoted;
    } else if (!blank) {
      words.back() += c;
    }
  }
  if (quoted) throw InputError("line " + std::to_string(number) + ": unterminated quote");
  return words;
}

int run_line(std::vector<std::string> words) {
  if (words[0] == "batch") throw InputError("a batch cannot run another batch");
  std::string program = "taper";
  std::vector<char*> argv = {program.data()};
  for (std::string& word : words) argv.push_back(word.data());
  const int argc = static_cast<int>(argv.size());
  argv.push_back(nullptr);
  return run_taper(argc, argv.data());
}

// Returns the number of commands that failed. `path` names the lines in messages.
size_t run_lines(std::istream& in, const std::string& path) {
  size_t number = 0, failed = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    const std::vector<std::string> words = words_of(line, number);
    if (words.empty() || words[0][0] == '#') continue;
    const int code = run_line(words);
    failed += code != 0;
    std::fflush(stderr);
    std::printf("line %zu: exit %d\n", number, code);
    std::fflush(stdout);
  }
  if (in.bad()) throw InputError("cannot read '" + path + "' to its end");
  return failed;
}

}  // namespace

int batch_command(int argc, char** argv) {
  CommandLine line = describe();
  if (!line.parse(argc, argv)) return 0;
  const std::string path = line.file();
  if (path == "-") return run_lines(std::cin, "stdin") == 0 ? 0 : 1;
  if (system::kind_of(path) != system::FileKind::kOther) {
    std::istringstream lines(read_file(path));
    lines.exceptions(std::ios::badbit);  // Without memory for a line the file has not ended.
    return run_lines(lines, path) == 0 ? 0 : 1;
  }
  std::ifstream pipe(system::as_path(path));
  if (!pipe) throw InputError("cannot read '" + path + "': " + std::strerror(errno));
  return run_lines(pipe, path) == 0 ? 0 : 1;
}

}  // namespace taper::tools
