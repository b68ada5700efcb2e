// Long work shows on a terminal how far it is, and nothing in a pipe.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "test/cli/command.h"

namespace taper::test {
namespace {

const std::string kModels = TAPER_SOURCE_DIR "/test/models/data/";

// What the command writes to stderr if that is a terminal.
std::string on_terminal(const std::vector<std::string>& arguments) {
  const int ours = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (ours < 0 || ::grantpt(ours) != 0 || ::unlockpt(ours) != 0) return "no terminal";
  const int theirs = ::open(::ptsname(ours), O_RDWR | O_NOCTTY | O_CLOEXEC);
  const pid_t child = ::fork();
  if (child == 0) {
    const int none = ::open("/dev/null", O_RDWR);
    ::dup2(none, 0);
    ::dup2(none, 1);
    ::dup2(theirs, 2);
    const std::string program = path_of("taper");
    std::vector<char*> argv = {const_cast<char*>("taper")};
    for (const std::string& each : arguments) argv.push_back(const_cast<char*>(each.c_str()));
    argv.push_back(nullptr);
    ::execv(program.c_str(), argv.data());
    ::_exit(127);
  }
  ::close(theirs);
  std::string text;
  char block[4096];
  // The read fails once nobody has the other end.
  for (ssize_t n; (n = ::read(ours, block, sizeof block)) > 0;) text.append(block, size_t(n));
  ::close(ours);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << text;
  return text;
}

// Work that takes more than the time in which nothing is shown.
std::vector<std::string> long_work(const ScratchFolder& folder) {
  EXPECT_EQ(
      run("taper", {"export", kModels + "mobilenet_v2.pt2", "-o", folder / "m.pte", "--debug-info"})
          .code,
      0);
  return {"profile", folder / "m.pte", "--runs", "3000", "--portable-only"};
}

TEST(Progress, CountsUpOnATerminalAndIsErased) {
  const ScratchFolder folder;
  const std::string text = on_terminal(long_work(folder));
  const std::string erased = "\r\x1b[K";
  EXPECT_NE(text.find(erased + "profiling "), text.npos) << text;
  EXPECT_NE(text.find("profiling  99 %"), text.npos) << text;
  ASSERT_GE(text.size(), erased.size());
  EXPECT_EQ(text.substr(text.size() - erased.size()), erased);
}

TEST(Progress, IsSilentInAPipe) {
  const ScratchFolder folder;
  EXPECT_EQ(run("taper", long_work(folder)).err, "");
}

}  // namespace
}  // namespace taper::test
