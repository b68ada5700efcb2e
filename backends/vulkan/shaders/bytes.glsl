// Signed bytes in 32-bit words, the first in the lowest bits. They become the last bits of 2^23, so
// that no conversion is needed, which is slow on some GPUs.

float signed_byte(uint word, uint i) {
  return uintBitsToFloat(0x4b000000u | ((word >> 8 * i & 255u) ^ 128u)) - 8388736.0;
}
vec4 signed_bytes(uint word) {
  return vec4(signed_byte(word, 0), signed_byte(word, 1), signed_byte(word, 2),
              signed_byte(word, 3));
}
