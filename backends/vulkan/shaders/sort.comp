#version 450
// The order of the n of [outer, n, inner]. A thread counts what comes before its element, which is
// then the place of it; `kept` places are wanted. Equal elements keep their order.

#include "common.glsl"
#include "order.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint IS_FLOAT = 1;
layout(constant_id = 1) const uint DESCENDING = 0;
layout(constant_id = 2) const uint VALUES = 1;  // Whether the elements are wanted, too.

layout(binding = 0) writeonly buffer Indices { uint indices_[]; };
layout(binding = 1) readonly buffer In { uint in_[]; };
layout(binding = 2) writeonly buffer Values { uint values_[]; };
layout(push_constant) uniform Push {
  uint count;  // outer * n * inner
  uint n, inner;
  uint kept;
};

int place_key(uint at) {
  int key = key_of(in_[at], IS_FLOAT != 0u);
  return DESCENDING != 0u ? ~key : key;
}

void main() {
  uint index = FLAT_GROUP * 256u + gl_LocalInvocationID.x;
  if (index >= count) return;
  uint rest = index / inner;
  uint row = rest / n, mine = rest % n, column = index % inner;
  uint first = row * n * inner + column;
  int key = place_key(index);
  uint place = 0u;
  for (uint k = 0u; k < n; ++k) {
    int other = place_key(first + k * inner);
    if (other < key || (other == key && k < mine)) ++place;
  }
  if (place >= kept) return;
  uint to = (row * kept + place) * inner + column;
  indices_[to] = mine;
  if (VALUES != 0u) values_[to] = in_[index];
}
