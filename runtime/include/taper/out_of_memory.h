// What the parts of the device half that use the heap do when it has no memory for them. There the
// C++ library throws; the part gives back what it holds, and its boundary returns an error. So no
// exception leaves a Module, a backend or a function of taper/taper.h, and none passes through the
// runtime, the kernels or an application. Compiled without exceptions, the C++ library ends the
// process instead.

#pragma once

#include <memory>
#include <new>
#include <utility>

#include "taper/status.h"

namespace taper {

inline constexpr Status kOutOfMemory = {Error::kMemoryAllocationFailed,
                                        "there is not enough memory"};

// What `act` returns, or what `without` returns if there is not enough memory for that.
template <typename Act, typename Without>
auto with_memory(const Act& act, [[maybe_unused]] const Without& without) -> decltype(act()) {
#if defined(__cpp_exceptions)
  try {
    return act();
  } catch (const std::bad_alloc&) {
    return without();
  }
#else
  return act();
#endif
}

// The same for a Status or a Result.
template <typename Act>
auto with_memory(const Act& act) -> decltype(act()) {
  return with_memory(act, []() -> decltype(act()) { return kOutOfMemory; });
}

// A new T, or null if there is not enough memory for it or for what its constructor makes.
template <typename T, typename... Args>
std::unique_ptr<T> make_or_null(Args&&... args) {
  return with_memory([&] { return std::make_unique<T>(std::forward<Args>(args)...); },
                     [] { return std::unique_ptr<T>(); });
}

}  // namespace taper
