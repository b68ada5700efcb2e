// Lets one call that reads or writes a file go wrong, as disks, signals and other processes do.

#pragma once

#include <cstdint>
#include <string>

namespace taper::test {

enum class FileFault : uint8_t {
  kRefused,      // The call fails: a broken disk for what reads, a full one for what writes.
  kInterrupted,  // A signal arrives before the first byte (EINTR).
  kPartial,      // Only one byte is read or written.
  kEnds,         // The file ends: somebody has cut it off.
};

// Of the calls from now on that `fault` can befall and that use a file below `folder`, lets the
// n-th go wrong. 0: none.
void fail_file_call(const std::string& folder, FileFault fault, uint64_t n);

// How many such calls there were.
uint64_t file_calls();

}  // namespace taper::test
