#version 450
// Sums, products, extremes, any and all over the n of [outer, n, inner].
//
// A long reduction has two steps: the first makes `splits` results of `chunk` elements each, which
// lie as [outer, splits, inner]; the second reduces these.

#include "common.glsl"
#include "lanes.glsl"

layout(constant_id = 2) const uint KIND = 0;
layout(constant_id = 3) const uint IN_FLOATS = 1;   // Whether elements are floats.
layout(constant_id = 4) const uint OF_FLOATS = 1;   // Whether it computes with floats.
layout(constant_id = 5) const uint IS_MEAN = 0;     // Whether the result is divided by `divisor`.

const uint SUM = 0u, PRODUCT = 1u, MAX = 2u, MIN = 3u, ANY = 4u, ALL = 5u;

layout(binding = 0) buffer Out { uint out_[]; };
layout(binding = 1) readonly buffer In { uint in_[]; };
layout(push_constant) uniform Push {
  uint results;  // outer * splits * inner
  uint n, inner;
  uint chunk, splits;
  float divisor;
};

shared uint partial[256];

uint f(float v) { return floatBitsToUint(v); }

uint neutral() {
  switch (KIND) {
    case PRODUCT: return OF_FLOATS != 0u ? f(1.0) : 1u;
    case MAX: return OF_FLOATS != 0u ? f(-INFINITY) : 0x80000000u;
    case MIN: return OF_FLOATS != 0u ? f(INFINITY) : 0x7fffffffu;
    case ALL: return 1u;
  }
  return 0u;
}

uint term(uint word) {
  if (KIND == ANY || KIND == ALL) {  // All but the two zeros are true.
    return (IN_FLOATS != 0u ? word & 0x7fffffffu : word) != 0u ? 1u : 0u;
  }
  return OF_FLOATS != IN_FLOATS ? f(float(int(word))) : word;
}

uint of_floats(uint a, uint b) {
  float x = uintBitsToFloat(a), y = uintBitsToFloat(b);
  if (KIND == SUM) return f(x + y);
  if (KIND == PRODUCT) return f(x * y);
  if (is_nan(x)) return a;
  if (is_nan(y)) return b;
  return f(KIND == MAX ? max(x, y) : min(x, y));
}

uint combine(uint a, uint b) {
  if (OF_FLOATS != 0u) return of_floats(a, b);
  switch (KIND) {
    case PRODUCT: return a * b;
    case MAX: return uint(max(int(a), int(b)));
    case MIN: return uint(min(int(a), int(b)));
    case ANY: return a | b;
    case ALL: return a & b;
  }
  return a + b;
}

void main() {
  uint lane = lane_of_thread(), slot = slot_of_thread();
  uint index = FLAT_GROUP * RESULTS + slot;
  bool inside = index < results;
  uint rest = index / inner;
  uint first = inside ? rest / splits * n * inner + index % inner : 0u;
  uint begin = rest % splits * chunk;
  uint end = inside ? min(begin + chunk, n) : 0u;

  // Sums of a few elements are summed, which keeps more digits than one sum of all.
  uint result = neutral();
  for (uint block = begin + lane; block < end; block += 32u * LANES) {
    uint of_block = neutral();
    uint stop = min(block + 32u * LANES, end);
    for (uint k = block; k < stop; k += LANES) {
      of_block = combine(of_block, term(ELEMENT(in_, 1, first + k * inner)));
    }
    result = combine(result, of_block);
  }

  if (LANES > 1u) {
    uint at = lane * RESULTS + slot;
    partial[at] = result;
    barrier();
    for (uint left = LANES / 2u; left > 0u; left /= 2u) {
      if (lane < left) partial[at] = combine(partial[at], partial[at + left * RESULTS]);
      barrier();
    }
    result = partial[slot];
  }
  if (IS_MEAN != 0u) result = f(uintBitsToFloat(result) / divisor);
  if (inside && lane == 0u) STORE(out_, 0, index, result)
}
