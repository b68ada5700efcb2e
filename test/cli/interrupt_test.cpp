// Ctrl-C while a file is being written leaves neither the file nor a part of it, nor does a file that
// grows beyond what the process may write; one that shrinks while it is mapped ends a command with an
// error.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "test/cli/command.h"
#include "test/support/sanitizer.h"
#include "tools/atomic_file.h"

namespace taper::test {
namespace {

using Files = std::vector<std::string>;

// Exports a model whose weights go to a pipe that nobody reads: the program is written to its
// temporary file, `expected`th in the folder, and then the export waits. Sends it the signal there,
// and returns the one that ended it.
int export_until(const ScratchFolder& folder, size_t expected, int signal) {
  const std::string program = path_of("taper");
  const std::string model = TAPER_SOURCE_DIR "/test/models/data/dynamic_batch.pt2";
  const std::string output = folder / "model.pte", weights = folder / "weights";
  EXPECT_EQ(::mkfifo(weights.c_str(), 0600), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl(program.c_str(), "taper", "export", model.c_str(), "-o", output.c_str(),
            "--external-weights", weights.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  int status = 0;
  while (folder.files().size() < expected && ::waitpid(child, &status, WNOHANG) == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(folder.files().size(), expected) << "no temporary file beside the pipe";
  EXPECT_EQ(::kill(child, signal), 0);
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFSIGNALED(status) ? WTERMSIG(status) : -1;
}

TEST(Interrupt, LeavesNoHalfFile) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const ScratchFolder folder;
    EXPECT_EQ(export_until(folder, 2, signal), signal);
    EXPECT_EQ(folder.files(), Files{"weights"});
  }
}

TEST(Interrupt, LeavesThePreviousFile) {
  const ScratchFolder folder;
  tools::write_file(folder / "model.pte", "as it was");
  EXPECT_EQ(export_until(folder, 3, SIGINT), SIGINT);
  EXPECT_EQ(tools::read_file(folder / "model.pte"), "as it was");
  EXPECT_EQ(folder.files(), (Files{"model.pte", "weights"}));
}

// A model that runs until its file is cut off.
TEST(ShrinkingFile, IsOneError) {
#if TAPER_SANITIZED
  GTEST_SKIP() << "the sanitizer reports the signal itself";
#endif
  const ScratchFolder folder;
  const std::string path = folder / "resnet18.pte";
  const std::string model = TAPER_SOURCE_DIR "/test/models/data/resnet18.pt2";
  ASSERT_EQ(run("taper", {"export", model, "-o", path}).code, 0);
  std::thread cutter([&path] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    std::filesystem::resize_file(path, 100);
  });
  const Said said = run("taper", {"run", path, "--threads", "1", "-n", "100000000"});
  cutter.join();
  EXPECT_EQ(said.code, 1);
  EXPECT_EQ(said.error_lines().size(), 1u) << said.err;
}

TEST(Interrupt, ByTheLimitOfFileSizesIsAnError) {
  const std::string model = TAPER_SOURCE_DIR "/test/models/data/bert_mini.pt2";
  const ScratchFolder folder;
  const std::string output = folder / "model.pte", limited = "ulimit -f 16 && exec \"$0\" \"$@\"";
  tools::write_file(output, "as it was");
  const Said said =
      run("/bin/sh", {"-c", limited, path_of("taper"), "export", model, "-o", output});
  EXPECT_EQ(said.code, 1);
  EXPECT_EQ(said.err, "taper: error: cannot write '" + output + "': File too large\n");
  EXPECT_EQ(tools::read_file(output), "as it was");
  EXPECT_EQ(folder.files(), Files{"model.pte"});
}

}  // namespace
}  // namespace taper::test
