// How shaders that make one result of many elements share the work: a workgroup makes RESULTS
// results, with LANES threads for each. All threads of a workgroup must come to the functions here.
//
//     ADJACENT      lanes are neighbours: they read what lies side by side in a row
//     otherwise     results are neighbours: the rows of a result lie side by side

#include "halves.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint LANES = 256;  // A power of two.
layout(constant_id = 1) const uint ADJACENT = 1;

const uint RESULTS = 256 / LANES;

uint lane_of_thread() {
  return ADJACENT != 0u ? gl_LocalInvocationID.x % LANES : gl_LocalInvocationID.x / RESULTS;
}
// Which result of the workgroup.
uint slot_of_thread() {
  return ADJACENT != 0u ? gl_LocalInvocationID.x / LANES : gl_LocalInvocationID.x % RESULTS;
}

shared vec2 of_lanes[256];

// The sum over the lanes of a result; all lanes get it.
vec2 sum_of_lanes(vec2 mine) {
  if (LANES == 1u) return mine;
  uint lane = lane_of_thread(), slot = slot_of_thread(), at = lane * RESULTS + slot;
  of_lanes[at] = mine;
  barrier();
  for (uint rest = LANES / 2u; rest > 0u; rest /= 2u) {
    if (lane < rest) of_lanes[at] += of_lanes[at + rest * RESULTS];
    barrier();
  }
  vec2 sum = of_lanes[slot];
  barrier();
  return sum;
}
float sum_of_lanes(float mine) { return sum_of_lanes(vec2(mine, 0.0)).x; }

// The largest of the lanes of a result, none of which is NaN.
float max_of_lanes(float mine) {
  if (LANES == 1u) return mine;
  uint lane = lane_of_thread(), slot = slot_of_thread(), at = lane * RESULTS + slot;
  of_lanes[at].x = mine;
  barrier();
  for (uint rest = LANES / 2u; rest > 0u; rest /= 2u) {
    if (lane < rest) of_lanes[at].x = max(of_lanes[at].x, of_lanes[at + rest * RESULTS].x);
    barrier();
  }
  float largest = of_lanes[slot].x;
  barrier();
  return largest;
}

// Stores the n elements of a row, which are `inner` apart from `first` on; a thread begins at its
// lane, or at n. `element` is an expression of k. Words are stored whole where they are of one row.
#define STORE_ROW(out_, first, n, inner, begin, element)                     \
  {                                                                          \
    uint each = IS_HALF(0) && (inner) == 1u && (n) % 2u == 0u ? 2u : 1u;     \
    for (uint k0 = (begin) * each; k0 < (n); k0 += LANES * each) {           \
      uint word = 0u;                                                        \
      for (uint k = k0; k < k0 + each; ++k) {                                \
        uint made = floatBitsToUint(element);                                \
        word = each == 2u ? word | half_at(k, made) : made;                  \
      }                                                                      \
      if (each == 2u) {                                                      \
        out_[((first) + k0) / 2u] = word;                                    \
      } else {                                                               \
        STORE(out_, 0, (first) + k0 * (inner), word)                         \
      }                                                                      \
    }                                                                        \
  }
