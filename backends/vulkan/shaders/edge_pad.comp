#version 450
// An image with edges of its own pixels: reflected, or the outermost ones repeated.

#include "common.glsl"
#include "halves.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint REFLECTS = 0;

layout(binding = 0) writeonly buffer Out { uint out_[]; };
layout(binding = 1) readonly buffer In { uint in_[]; };

layout(push_constant) uniform Push {
  uint count;
  int depth, height, width;              // Of the image.
  int out_depth, out_height, out_width;
  int front, top, left;                  // How much is before it; negative if it is cut off.
};

int source(int at, int size) {
  if (REFLECTS != 0u) {
    at = abs(at);
    if (at >= size) at = 2 * (size - 1) - at;
  }
  return clamp(at, 0, size - 1);
}

uint element(uint index) {
  int rest = int(index);
  int x = source(rest % out_width - left, width); rest /= out_width;
  int y = source(rest % out_height - top, height); rest /= out_height;
  int z = source(rest % out_depth - front, depth); rest /= out_depth;
  return ELEMENT(in_, 1, ((rest * depth + z) * height + y) * width + x);
}

void main() { STORE_ALL(out_, count, element) }
