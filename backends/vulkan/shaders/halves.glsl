// float16 in 32-bit words, two in each, the first in the lower half. Any device has these functions.

// Rounded to the nearest float16; beyond 65504 that is infinity.
float as_half(float x) { return unpackHalf2x16(packHalf2x16(vec2(x, 0.0))).x; }
vec4 as_half(vec4 x) {
  return vec4(unpackHalf2x16(packHalf2x16(x.xy)), unpackHalf2x16(packHalf2x16(x.zw)));
}

uvec2 packed(vec4 x) { return uvec2(packHalf2x16(x.xy), packHalf2x16(x.zw)); }
vec4 unpacked(uvec2 words) { return vec4(unpackHalf2x16(words.x), unpackHalf2x16(words.y)); }
