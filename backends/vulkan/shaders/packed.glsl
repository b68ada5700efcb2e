// Integers of 4 or 8 bits in 32-bit words, the first in the lowest bits.

layout(constant_id = 0) const uint BITS = 4;

const uint PER_WORD = 32 / BITS;

// 4 bits hold a weight + 8, 8 bits a signed number. The bits become the last ones of 2^23, so that
// no conversion is needed, which is slow on some GPUs.
float weight_of(uint word, uint i) {
  if (BITS == 4u) return uintBitsToFloat(0x4b000000u | (word >> 4 * i & 15u)) - 8388616.0;
  return uintBitsToFloat(0x4b000000u | ((word >> 8 * i & 255u) ^ 128u)) - 8388736.0;
}
