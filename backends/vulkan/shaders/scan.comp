#version 450
// Running sums along the n of [outer, n, inner]. A workgroup goes over a row in steps of LANES
// elements, whose sums it makes by doubling.

#include "common.glsl"
#include "lanes.glsl"

layout(constant_id = 2) const uint IN_FLOATS = 1;  // Whether elements are floats.
layout(constant_id = 3) const uint OF_FLOATS = 1;  // Whether sums are.

layout(binding = 0) writeonly buffer Out { uint out_[]; };
layout(binding = 1) readonly buffer In { uint in_[]; };
layout(push_constant) uniform Push {
  uint rows;  // outer * inner
  uint n, inner;
};

shared uint sums[256];

uint add(uint a, uint b) {
  if (OF_FLOATS == 0u) return a + b;
  return floatBitsToUint(uintBitsToFloat(a) + uintBitsToFloat(b));
}

void main() {
  uint lane = lane_of_thread(), slot = slot_of_thread(), me = lane * RESULTS + slot;
  uint row = FLAT_GROUP * RESULTS + slot;
  bool inside = row < rows;
  uint first = inside ? row / inner * n * inner + row % inner : 0u;
  uint before = 0u;  // The sum of the steps before.
  for (uint base = 0u; base < n; base += LANES) {
    uint k = base + lane;
    bool is_element = inside && k < n;
    uint sum = is_element ? in_[first + k * inner] : 0u;
    if (OF_FLOATS != IN_FLOATS) sum = floatBitsToUint(float(int(sum)));
    if (LANES > 1u) {
      sums[me] = sum;
      barrier();
      for (uint reach = 1u; reach < LANES; reach *= 2u) {
        if (lane >= reach) sum = add(sums[me - reach * RESULTS], sum);
        barrier();
        sums[me] = sum;
        barrier();
      }
      sum = add(before, sum);
      before = add(before, sums[(LANES - 1u) * RESULTS + slot]);
      barrier();
    } else {
      sum = add(before, sum);
      before = sum;
    }
    if (is_element) out_[first + k * inner] = sum;
  }
}
