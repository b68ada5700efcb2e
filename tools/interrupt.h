// What a signal that ends the program, such as that of Ctrl-C, leaves behind: no temporary file,
// and of files that belong together all or none.

#pragma once

#include <string>

namespace taper::tools {

// A file that a signal removes for as long as this lives.
class RemovedOnSignal {
 public:
  explicit RemovedOnSignal(const std::string& path);
  RemovedOnSignal(const RemovedOnSignal&) = delete;
  RemovedOnSignal& operator=(const RemovedOnSignal&) = delete;
  ~RemovedOnSignal();

 private:
  friend class SignalsWait;
  friend void end_when_a_file_shrinks();
  struct Entry;
  Entry* entry_;
};

// While one lives, signals wait, whichever thread they come to. One at a time.
class SignalsWait {
 public:
  SignalsWait();
  SignalsWait(const SignalsWait&) = delete;
  SignalsWait& operator=(const SignalsWait&) = delete;
  ~SignalsWait();
};

// From now on a mapped file that becomes shorter ends the program with one error, and without a
// temporary file, where the system would stop it in the middle.
void end_when_a_file_shrinks();

}  // namespace taper::tools
