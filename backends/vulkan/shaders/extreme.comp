#version 450
// The largest or the smallest over the n of [outer, n, inner], and where it is. NaN is before all;
// of equal elements the first is found.

#include "common.glsl"
#include "lanes.glsl"

layout(constant_id = 2) const uint IS_MAX = 1;
layout(constant_id = 3) const uint IS_FLOAT = 1;
layout(constant_id = 4) const uint VALUES = 0;  // Whether the element is wanted, too.

layout(binding = 0) writeonly buffer Indices { uint indices_[]; };
layout(binding = 1) readonly buffer In { uint in_[]; };
layout(binding = 2) writeonly buffer Values { uint values_[]; };
layout(push_constant) uniform Push {
  uint results;  // outer * inner
  uint n, inner;
};

shared int keys[256];
shared uint places[256];

// An integer that is larger for what is more extreme.
int key_of(uint word) {
  int key = int(word);
  if (IS_FLOAT != 0u) {
    float x = uintBitsToFloat(word);
    if (is_nan(x)) return 0x7fffffff;
    if ((word & 0x7fffffffu) == 0u) key = 0;  // Both zeros are equal.
    if (key < 0) key = int(0x80000000u) - key;  // Larger magnitudes are smaller.
  }
  return IS_MAX != 0u ? key : ~key;
}

void main() {
  uint lane = lane_of_thread(), slot = slot_of_thread();
  uint index = FLAT_GROUP * RESULTS + slot;
  bool inside = index < results;
  uint first = inside ? index / inner * n * inner + index % inner : 0u;

  int best = int(0x80000000u);
  uint place = 0xffffffffu;
  for (uint k = inside ? lane : n; k < n; k += LANES) {
    int key = key_of(in_[first + k * inner]);
    if (key > best || place == 0xffffffffu) {
      best = key;
      place = k;
    }
  }
  if (LANES > 1u) {
    uint at = lane * RESULTS + slot;
    keys[at] = best;
    places[at] = place;
    barrier();
    for (uint left = LANES / 2u; left > 0u; left /= 2u) {
      uint other = at + left * RESULTS;
      if (lane < left) {
        bool wins = keys[other] > keys[at] || (keys[other] == keys[at] && places[other] < places[at]);
        if (wins) {
          keys[at] = keys[other];
          places[at] = places[other];
        }
      }
      barrier();
    }
    place = places[slot];
  }
  if (inside && lane == 0u) {
    indices_[index] = place;
    if (VALUES != 0u) values_[index] = in_[first + place * inner];
  }
}
