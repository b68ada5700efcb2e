// CRC-32 by carry-less multiplication where the processor has it, zlib's otherwise.
//
// A CRC is the remainder of the message, seen as a polynomial over GF(2), divided by P. Multiplying
// the first 128 bits by x^n mod P and adding them to the bits n further on does not change that
// remainder, so a long message is folded onto its last 16 bytes: four lanes of 16 bytes, each moved
// 512 bits ahead per step, then the lanes onto one another, 128 bits ahead each. What is left, and
// the tail, goes through zlib. The numbers are x^n mod P, bit-reversed as this CRC is:
//
//     n = 512 + 32, 512 - 32      the low and high half of a lane, moved by 64 bytes
//     n = 128 + 32, 128 - 32      moved by 16 bytes

#include "exir/frontend/checksum.h"

#include <zlib.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace taper::exir {
namespace {

uint32_t crc32_plain(uint32_t crc, const uint8_t* data, size_t size) {
  return static_cast<uint32_t>(crc32_z(crc, data, size));
}

#if defined(__x86_64__)

#define TAPER_CLMUL __attribute__((target("pclmul,sse4.1")))

constexpr size_t kLane = 16, kStep = 4 * kLane;

TAPER_CLMUL inline __m128i load(const uint8_t* data) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(data));
}

TAPER_CLMUL inline __m128i fold(__m128i lane, __m128i powers, __m128i next) {
  const __m128i low = _mm_clmulepi64_si128(lane, powers, 0x00);
  const __m128i high = _mm_clmulepi64_si128(lane, powers, 0x11);
  return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

// REQUIRES size >= kStep.
TAPER_CLMUL uint32_t crc32_folded(const uint8_t* data, size_t size) {
  const __m128i by_step = _mm_set_epi64x(0x1c6e41596, 0x154442bd4);
  const __m128i by_lane = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
  // The register of a CRC starts as ones, which is the same as inverting the first 32 bits.
  __m128i a = _mm_xor_si128(load(data), _mm_cvtsi32_si128(-1));
  __m128i b = load(data + kLane), c = load(data + 2 * kLane), d = load(data + 3 * kLane);
  for (data += kStep, size -= kStep; size >= kStep; data += kStep, size -= kStep) {
    a = fold(a, by_step, load(data));
    b = fold(b, by_step, load(data + kLane));
    c = fold(c, by_step, load(data + 2 * kLane));
    d = fold(d, by_step, load(data + 3 * kLane));
  }
  uint8_t rest[kLane];
  _mm_storeu_si128(reinterpret_cast<__m128i*>(rest),
                   fold(fold(fold(a, by_lane, b), by_lane, c), by_lane, d));
  constexpr uint32_t kEmptyRegister = 0xffffffff;  // zlib keeps it inverted.
  return crc32_plain(crc32_plain(kEmptyRegister, rest, kLane), data, size);
}

#endif

}  // namespace

uint32_t crc32_of(Bytes bytes) {
#if defined(__x86_64__)
  if (bytes.size() >= kStep && __builtin_cpu_supports("pclmul") &&
      __builtin_cpu_supports("sse4.1")) {
    return crc32_folded(bytes.data(), bytes.size());
  }
#endif
  return bytes.empty() ? 0 : crc32_plain(0, bytes.data(), bytes.size());
}

}  // namespace taper::exir
