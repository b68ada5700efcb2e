// A mutex that also compiles where the C++ library has no threads, as Debian's for WebAssembly:
// there it does nothing.

#pragma once

#include <mutex>

namespace taper::internal {

#if defined(__wasm__) && !defined(_REENTRANT)

class Mutex {};

class Lock {
 public:
  explicit Lock(Mutex&) {}
  ~Lock() {}  // Not trivial, so that an unused variable is no warning.
};

#else

using Mutex = std::mutex;
using Lock = std::lock_guard<std::mutex>;

#endif

}  // namespace taper::internal
