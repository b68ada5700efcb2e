// Arrays that may fail to be made: null then, and each place says what there was no memory for.

#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace taper::xnnpack {

// `count` values as their default initialisers make them, zero where there is none; at least one.
template <typename T>
std::unique_ptr<T[]> make_array(size_t count) {
  return std::unique_ptr<T[]>(new (std::nothrow) T[count > 0 ? count : 1]());
}

}  // namespace taper::xnnpack
