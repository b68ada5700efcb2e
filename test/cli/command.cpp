// Runs programs with fork and exec, with their output in temporary files.

#include "test/cli/command.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include "tools/atomic_file.h"

namespace taper::test {
namespace {

// Replaces this process by the program, with its output redirected to files.
[[noreturn]] void become(const std::string& path, const std::vector<std::string>& arguments,
                         const std::string& out, const std::string& err) {
  const int in = ::open("/dev/null", O_RDONLY);
  const int out_file = ::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int err_file = ::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (::dup2(in, 0) < 0 || ::dup2(out_file, 1) < 0 || ::dup2(err_file, 2) < 0) ::_exit(126);
  std::vector<char*> argv = {const_cast<char*>(path.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  ::execv(path.c_str(), argv.data());
  ::_exit(127);
}

}  // namespace

std::vector<std::string> Said::error_lines() const {
  std::vector<std::string> lines;
  std::istringstream in(err);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string path_of(const std::string& program) {
  const char* folder = std::getenv("TAPER_TEST_PROGRAMS");
  return std::string(folder != nullptr ? folder : TAPER_BIN_DIR) + "/" + program;
}

Said run(const std::string& program, const std::vector<std::string>& arguments) {
  const ScratchFolder scratch;
  const bool is_path = program.find('/') != std::string::npos;
  const std::string path = is_path ? program : path_of(program);
  const std::string out = scratch / "out", err = scratch / "err";
  const pid_t child = ::fork();
  if (child == 0) become(path, arguments, out, err);
  int status = 0;
  Said said;
  if (child < 0 || ::waitpid(child, &status, 0) != child) return said;
  said.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  said.out = tools::read_file(out);
  said.err = tools::read_file(err);
  return said;
}

}  // namespace taper::test
