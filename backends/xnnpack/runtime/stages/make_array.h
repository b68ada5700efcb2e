// Allocates arrays without exceptions: null if there is no memory, which the caller reports.

#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace taper::xnnpack {

// Allocates `count` value-initialised elements, at least one.
template <typename T>
std::unique_ptr<T[]> make_array(size_t count) {
  return std::unique_ptr<T[]>(new (std::nothrow) T[count > 0 ? count : 1]());
}

}  // namespace taper::xnnpack
