// Looks up bytes in a table; see byte_table.h. A processor with AVX-512 VBMI looks up 64 bytes in
// half of the table at once; others take the table in pieces of 16 entries.

#include "kernels_optimized/cores/bytes/byte_table.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/cores/bytes/byte_table.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Looks up whole vectors and returns how many bytes these were. The index of an entry within a
// piece is the lower half of a byte; the upper half says which piece it is, and becomes 0 for this
// piece alone. Adding 112, at most to 255, sets the upper bit of all other indices, whose results
// are 0. What it adds below that bit is taken away, since only x86 ignores it.
size_t look_up_form(const uint8_t* table, const uint8_t* in, size_t count, uint8_t* out) {
  const hn::ScalableTag<uint8_t> d;
  const size_t lanes = hn::Lanes(d);
  const auto others = hn::Set(d, 0x70), kept = hn::Set(d, 0x8f);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto bytes = hn::LoadU(d, in + i);
    auto found = hn::Zero(d);
    for (size_t piece = 0; piece < 16; ++piece) {
      const auto entries = hn::LoadDup128(d, table + 16 * piece);
      const auto mask = hn::Set(d, static_cast<uint8_t>((piece << 4) ^ 0x80));
      const auto index = hn::And(hn::SaturatedAdd(hn::Xor(bytes, mask), others), kept);
      found = hn::Or(found, hn::TableLookupBytesOr0(entries, index));
    }
    hn::StoreU(found, d, out + i);
  }
  return i;
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE

#include "kernels_optimized/engine/x86_features.h"
#include "kernels_optimized/engine/x86_intrinsics.h"

#if defined(__x86_64__)
#define TAPER_VBMI __attribute__((target("avx512f,avx512bw,avx512vbmi")))
#endif

namespace taper::optimized {
namespace {

using LookUp = size_t (*)(const uint8_t* table, const uint8_t* in, size_t count, uint8_t* out);

#if defined(__x86_64__)
// The upper bit of a byte chooses the half of the table; the others are the index in it.
TAPER_VBMI size_t look_up_vbmi(const uint8_t* table, const uint8_t* in, size_t count,
                               uint8_t* out) {
  __m512i entries[4];
  for (size_t j = 0; j < 4; ++j) entries[j] = _mm512_loadu_si512(table + 64 * j);
  size_t i = 0;
  for (; i + 64 <= count; i += 64) {
    const __m512i bytes = _mm512_loadu_si512(in + i);
    const __m512i negative = _mm512_permutex2var_epi8(entries[0], bytes, entries[1]);
    const __m512i positive = _mm512_permutex2var_epi8(entries[2], bytes, entries[3]);
    const __m512i found = _mm512_mask_blend_epi8(_mm512_movepi8_mask(bytes), positive, negative);
    _mm512_storeu_si512(out + i, found);
  }
  return i;
}
#endif

LookUp best() {
#if defined(__x86_64__)
  if (has_vbmi()) return &look_up_vbmi;
#endif
  return TAPER_CHOOSE(LookUp, look_up_form);
}

}  // namespace

void look_up_bytes(const uint8_t* table, const uint8_t* in, size_t count, uint8_t* out) {
  const LookUp look_up = best();
  size_t i = look_up == nullptr ? 0 : look_up(table, in, count, out);
  for (; i < count; ++i) out[i] = table[in[i] ^ 0x80];
}

}  // namespace taper::optimized

#endif  // HWY_ONCE
