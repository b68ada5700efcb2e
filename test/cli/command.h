// Runs a program of this build and captures its output.

#pragma once

#include <string>
#include <vector>

#include "test/support/scratch_folder.h"

namespace taper::test {

struct Said {
  int code = -1;  // The exit code; 128 + the signal's number if a signal ended the program.
  std::string out, err;

  // The lines on stderr.
  std::vector<std::string> error_lines() const;
};

// `program` is "taper", "executor_runner" or a path. stdin is empty, and no stream is a terminal.
// Programs without a path are this build's, or those in the folder that TAPER_TEST_PROGRAMS names.
std::string path_of(const std::string& program);
Said run(const std::string& program, const std::vector<std::string>& arguments);

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

}  // namespace taper::test
