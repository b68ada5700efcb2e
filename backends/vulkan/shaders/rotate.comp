#version 450
// Rotary embedding: pairs of elements of a row are turned, out = x * cos + turned(x) * sin. A pair
// is two neighbours, or one element of each half of the row. The place in a table follows the sizes
// of all dimensions but the last by strides. A thread makes one element.

#include "common.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint RANK = 1;       // Of all dimensions but the last.
layout(constant_id = 1) const uint NEIGHBOURS = 0;  // Both of a pair have one place in the tables.

layout(binding = 0) writeonly buffer Out { float out_[]; };
layout(binding = 1) readonly buffer X { float x_[]; };
layout(binding = 2) readonly buffer Cos { float cos_[]; };
layout(binding = 3) readonly buffer Sin { float sin_[]; };

layout(push_constant) uniform Push {
  uint count, width;
  int cos_offset, cos_step, sin_offset, sin_step;
  int sizes[3], cos_strides[3], sin_strides[3];
};

void main() {
  uint index = FLAT_GROUP * 256u + gl_LocalInvocationID.x;
  if (index >= count) return;
  uint d = index % width;
  int rest = int(index / width);
  int at = NEIGHBOURS != 0u ? int(d / 2) : int(d);
  int c = cos_offset + at * cos_step, s = sin_offset + at * sin_step;
  for (int i = int(RANK) - 1; i >= 0; --i) {
    int next = rest / sizes[i];
    int place = rest - next * sizes[i];
    rest = next;
    c += place * cos_strides[i];
    s += place * sin_strides[i];
  }
  uint half_ = width / 2;
  bool is_first = NEIGHBOURS != 0u ? d % 2 == 0 : d < half_;
  uint other = NEIGHBOURS != 0u ? index ^ 1u : is_first ? index + half_ : index - half_;
  float turned = is_first ? -x_[other] : x_[other];
  out_[index] = x_[index] * cos_[c] + turned * sin_[s];
}
