// float16 in 32-bit words, two in each, the first in the lower half. Any device has these functions.
//
// A tensor is words of four bytes, or float16: which bindings are, the planner says (Call::bind). An
// element is a word for a shader in either case.

layout(constant_id = 16) const uint HALVES = 0;  // A bit for each binding.

#define IS_HALF(binding_) ((HALVES >> (binding_) & 1u) != 0u)

const uint kPerWord = IS_HALF(0) ? 2u : 1u;  // Elements of the result in a word.

// A number beyond 65504 is 65504 as float16; infinity and NaN stay.
float in_range(float x) {
  return (floatBitsToUint(x) & 0x7f800000u) == 0x7f800000u ? x : clamp(x, -65504.0, 65504.0);
}
vec4 in_range(vec4 x) {
  const uvec4 kExponent = uvec4(0x7f800000u);
  return mix(clamp(x, -65504.0, 65504.0), x, equal(floatBitsToUint(x) & kExponent, kExponent));
}

// Rounded to the nearest float16.
float as_half(float x) { return unpackHalf2x16(packHalf2x16(vec2(in_range(x), 0.0))).x; }
vec4 as_half(vec4 x) {
  x = in_range(x);
  return vec4(unpackHalf2x16(packHalf2x16(x.xy)), unpackHalf2x16(packHalf2x16(x.zw)));
}

uvec2 packed(vec4 x) {
  x = in_range(x);
  return uvec2(packHalf2x16(x.xy), packHalf2x16(x.zw));
}
vec4 unpacked(uvec2 words) { return vec4(unpackHalf2x16(words.x), unpackHalf2x16(words.y)); }

// Element `at` of a buffer of words, as a word and as a float.
uint element_in(uint word, uint at) {
  return floatBitsToUint(unpackHalf2x16(word >> at % 2u * 16u).x);
}
#define ELEMENT(buffer_, binding_, at_) \
  (IS_HALF(binding_) ? element_in(buffer_[uint(at_) / 2u], uint(at_)) : buffer_[at_])
#define FLOAT(buffer_, binding_, at_) uintBitsToFloat(ELEMENT(buffer_, binding_, at_))

// A float as the half of a word that element `at` of a tensor is.
uint half_at(uint at, uint element) {
  return packHalf2x16(vec2(in_range(uintBitsToFloat(element)), 0.0)) << at % 2u * 16u;
}

// Stores an element whose neighbour in the word another thread stores.
#define STORE(buffer_, binding_, at, element)                          \
  {                                                                    \
    uint at_ = at, element_ = element;                                 \
    if (IS_HALF(binding_)) {                                           \
      atomicAnd(buffer_[at_ / 2u], 0xffff0000u >> at_ % 2u * 16u);     \
      atomicOr(buffer_[at_ / 2u], half_at(at_, element_));             \
    } else {                                                           \
      buffer_[at_] = element_;                                         \
    }                                                                  \
  }

// What main() does where thread i makes word i of a result of `count` elements, of which `element`
// makes one.
#define STORE_ALL(out_, count, element)                                       \
  {                                                                           \
    uint index = FLAT_GROUP * 256u + gl_LocalInvocationID.x;                  \
    uint begin = index * kPerWord, end = min(begin + kPerWord, count);        \
    if (begin >= count) return;                                               \
    uint word = 0u;                                                           \
    for (uint at = begin; at < end; ++at) {                                   \
      uint made = element(at);                                                \
      word = IS_HALF(0) ? word | half_at(at, made) : made;                    \
    }                                                                         \
    out_[index] = word;                                                       \
  }
