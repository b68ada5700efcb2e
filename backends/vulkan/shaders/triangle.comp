#version 450
// Matrices with zeros above a diagonal, or below it.

#include "common.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint IS_LOWER = 1;  // Whether what is below the diagonal stays.

layout(binding = 0) writeonly buffer Out { uint out_[]; };
layout(binding = 1) readonly buffer In { uint in_[]; };

layout(push_constant) uniform Push {
  uint count;
  int rows, columns;
  int diagonal;  // 0 is the main one, positive ones are above it.
};

void main() {
  uint index = FLAT_GROUP * 256u + gl_LocalInvocationID.x;
  if (index >= count) return;
  int column = int(index) % columns, row = int(index) / columns % rows;
  int above = column - row - diagonal;
  bool stays = IS_LOWER != 0u ? above <= 0 : above >= 0;
  out_[index] = stays ? in_[index] : 0u;
}
