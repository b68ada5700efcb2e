#version 450
// An image sampled at the points of a grid, whose pairs are (x, y) with -1 and 1 at the edges of
// the image. A thread computes one element of the result.

#include "common.glsl"
#include "halves.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint KIND = 0;
layout(constant_id = 1) const uint PADDING = 0;
layout(constant_id = 2) const uint ALIGNS_CORNERS = 0;  // Whether an edge is a pixel's centre.

const uint BILINEAR = 0u;
const uint NEAREST = 1u;
const uint BICUBIC = 2u;
const uint ZEROS = 0u;
const uint BORDER = 1u;
const uint REFLECTION = 2u;

layout(binding = 0) writeonly buffer Out { uint out_[]; };
layout(binding = 1) readonly buffer In { uint in_[]; };
layout(binding = 2) readonly buffer Grid { uint grid_[]; };

layout(push_constant) uniform Push {
  uint count;
  int channels;
  ivec2 size;   // Width, height.
  int points;   // Of the grid, for an image.
};

float reflect_between(float x, float low, float high) {
  float span = high - low;
  if (span <= 0.0) return 0.0;
  float distance = abs(x - low);
  float times = floor(distance / span);
  float rest = distance - times * span;
  bool odd = times - 2.0 * floor(times * 0.5) != 0.0;
  return odd ? high - rest : low + rest;
}

// A coordinate moved into the image, as the padding says.
float place(float x, int extent) {
  if (PADDING == ZEROS) return x;
  float last = float(extent - 1);
  if (PADDING == REFLECTION) {
    x = ALIGNS_CORNERS != 0u ? reflect_between(x, 0.0, last)
                             : reflect_between(x, -0.5, last + 0.5);
  }
  return !is_nan(x) && x > 0.0 ? min(x, last) : 0.0;
}
vec2 place(vec2 p) { return vec2(place(p.x, size.x), place(p.y, size.y)); }

float pixel(int plane, vec2 p) {
  vec2 extent = vec2(size);
  if (is_nan(p.x) || is_nan(p.y)) return 0.0;
  if (!(p.x >= 0.0 && p.x < extent.x && p.y >= 0.0 && p.y < extent.y)) return 0.0;
  ivec2 at = clamp(ivec2(p), ivec2(0), size - 1);
  return FLOAT(in_, 1, (plane * size.y + at.y) * size.x + at.x);
}

// Keys' cubic filter with a = -0.75, for the four pixels around a point `t` after the second.
vec4 cubic_weights(float t) {
  const float a = -0.75;
  vec4 d = vec4(t + 1.0, t, 1.0 - t, 2.0 - t);
  vec4 near = ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0;
  vec4 far = ((a * d - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a;
  return vec4(far.x, near.y, near.z, far.w);
}

float bilinear_at(int plane, vec2 p) {
  vec2 low = floor(p);
  vec2 above = p - low, below = low + 1.0 - p;
  return below.y * below.x * pixel(plane, low) +
         below.y * above.x * pixel(plane, low + vec2(1.0, 0.0)) +
         above.y * below.x * pixel(plane, low + vec2(0.0, 1.0)) +
         above.y * above.x * pixel(plane, low + vec2(1.0, 1.0));
}

float bicubic_at(int plane, vec2 p) {
  vec2 low = floor(p);
  vec4 wx = cubic_weights(p.x - low.x), wy = cubic_weights(p.y - low.y);
  float sum = 0.0;
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 4; ++x) {
      sum += wy[y] * wx[x] * pixel(plane, place(low + vec2(float(x - 1), float(y - 1))));
    }
  }
  return sum;
}

uint element(uint index) {
  int plane = int(index) / points, point = int(index) % points;
  int from = (plane / channels * points + point) * 2;
  vec2 at = vec2(FLOAT(grid_, 2, from), FLOAT(grid_, 2, from + 1));
  vec2 extent = vec2(size);
  precise vec2 p = ALIGNS_CORNERS != 0u ? (at + 1.0) / 2.0 * (extent - 1.0)
                                        : ((at + 1.0) * extent - 1.0) / 2.0;
  float value;
  if (KIND == BILINEAR) {
    value = bilinear_at(plane, place(p));
  } else if (KIND == NEAREST) {
    value = pixel(plane, roundEven(place(p)));
  } else {
    value = bicubic_at(plane, p);
  }
  return floatBitsToUint(value);
}

void main() { STORE_ALL(out_, count, element) }
