// Integers of 4 or 8 bits in 32-bit words, the first in the lowest bits.

#include "bytes.glsl"

layout(constant_id = 0) const uint BITS = 4;

const uint PER_WORD = 32 / BITS;

// 4 bits hold a weight + 8, 8 bits a signed number.
float weight_of(uint word, uint i) {
  if (BITS == 4u) return uintBitsToFloat(0x4b000000u | (word >> 4 * i & 15u)) - 8388616.0;
  return signed_byte(word, i);
}
