#include "kernels_optimized/engine/copy_piece.h"

#include "kernels_portable/engine/elementwise.h"

namespace taper::optimized {
namespace {

// Not inlined: inside other loops compilers make several times slower code of it.
template <typename T>
void interleave(const char* a, const char* b, char* to, int64_t count) {
  TAPER_INDEPENDENT_LOOP
  for (int64_t i = 0; i < count; ++i) {
    T pair[2];
    std::memcpy(&pair[0], a + static_cast<size_t>(i) * sizeof(T), sizeof(T));
    std::memcpy(&pair[1], b + static_cast<size_t>(i) * sizeof(T), sizeof(T));
    std::memcpy(to + static_cast<size_t>(i) * sizeof(pair), pair, sizeof(pair));
  }
}

}  // namespace

bool join_halves(const void* a, const void* b, size_t width, void* to, int64_t count) {
  const auto join = width == 4 ? interleave<uint32_t> : width == 8 ? interleave<uint64_t> : nullptr;
  if (join == nullptr) return false;
  join(static_cast<const char*>(a), static_cast<const char*>(b), static_cast<char*>(to), count);
  return true;
}

}  // namespace taper::optimized
