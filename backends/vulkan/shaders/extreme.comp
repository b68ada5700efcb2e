#version 450
// The largest or the smallest over the n of [outer, n, inner], and where it is. NaN is before all;
// of equal elements the first is found.

#include "common.glsl"
#include "lanes.glsl"
#include "order.glsl"

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

// Larger for what is more extreme.
int extremity(uint word) {
  int key = key_of(word, IS_FLOAT != 0u);
  bool is_last = IS_MAX != 0u || (IS_FLOAT != 0u && key == kNanKey);
  return is_last ? key : ~key;
}

void main() {
  uint lane = lane_of_thread(), slot = slot_of_thread();
  uint index = FLAT_GROUP * RESULTS + slot;
  bool inside = index < results;
  uint first = inside ? index / inner * n * inner + index % inner : 0u;

  int best = int(0x80000000u);
  uint place = 0xffffffffu;
  for (uint k = inside ? lane : n; k < n; k += LANES) {
    int key = extremity(in_[first + k * inner]);
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
        bool is_equal = keys[other] == keys[at];
        bool wins = keys[other] > keys[at] || (is_equal && places[other] < places[at]);
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
