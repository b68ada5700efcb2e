// The exceptions that end a command. run_taper() prints the message and picks the exit code.
//
//   InputError  a file, a model or a value is wrong: exit code 1
//   UsageError  the command line is wrong: exit code 2

#pragma once

#include <stdexcept>
#include <string>

namespace taper::tools {

struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace taper::tools
