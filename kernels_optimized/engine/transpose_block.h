// Blocks of floats, transposed in registers.

#if defined(TAPER_TRANSPOSE_BLOCK_FORM) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPER_TRANSPOSE_BLOCK_FORM
#undef TAPER_TRANSPOSE_BLOCK_FORM
#else
#define TAPER_TRANSPOSE_BLOCK_FORM
#endif

#include "kernels_optimized/engine/vectors.h"

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {

constexpr hn::CappedTag<float, 8> kBlockTag;
using BlockVec = hn::Vec<decltype(kBlockTag)>;
constexpr int64_t kBlock = hn::MaxLanes(kBlockTag);  // Of 4 or 8 rows and columns.
static_assert(kBlock == 4 || kBlock == 8);

// The four columns of four rows, in each 128 bits of the vectors by themselves.
HWY_INLINE void transpose_quarters(BlockVec (&v)[4]) {
  constexpr hn::Repartition<uint64_t, decltype(kBlockTag)> kPairs;
  const auto pairs = [&](BlockVec x) HWY_ATTR { return hn::BitCast(kPairs, x); };
  const auto a = pairs(hn::InterleaveLower(kBlockTag, v[0], v[1]));
  const auto b = pairs(hn::InterleaveLower(kBlockTag, v[2], v[3]));
  const auto c = pairs(hn::InterleaveUpper(kBlockTag, v[0], v[1]));
  const auto d = pairs(hn::InterleaveUpper(kBlockTag, v[2], v[3]));
  v[0] = hn::BitCast(kBlockTag, hn::InterleaveLower(kPairs, a, b));
  v[1] = hn::BitCast(kBlockTag, hn::InterleaveUpper(kPairs, a, b));
  v[2] = hn::BitCast(kBlockTag, hn::InterleaveLower(kPairs, c, d));
  v[3] = hn::BitCast(kBlockTag, hn::InterleaveUpper(kPairs, c, d));
}

// A block: to(r)[c] = from(c)[r], for the addresses of columns of the input and rows of the result.
template <typename From, typename To>
HWY_INLINE void transpose_block(From from, To to) {
  BlockVec first[4];
  for (int64_t c = 0; c < 4; ++c) first[c] = hn::LoadU(kBlockTag, from(c));
  transpose_quarters(first);
  if constexpr (kBlock == 4) {
    for (int64_t r = 0; r < 4; ++r) hn::StoreU(first[r], kBlockTag, to(r));
  } else {
    BlockVec last[4];
    for (int64_t c = 0; c < 4; ++c) last[c] = hn::LoadU(kBlockTag, from(c + 4));
    transpose_quarters(last);
    for (int64_t r = 0; r < 4; ++r) {
      hn::StoreU(hn::ConcatLowerLower(kBlockTag, last[r], first[r]), kBlockTag, to(r));
      hn::StoreU(hn::ConcatUpperUpper(kBlockTag, last[r], first[r]), kBlockTag, to(r + 4));
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#endif  // Once per instruction set.
