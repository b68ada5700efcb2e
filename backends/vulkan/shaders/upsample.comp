#version 450
// Images of other sizes: a thread computes one element of the result.
//
// The pixel at y of the result lies at y * scale of the image, or at (y + 0.5) * scale - 0.5 where
// corners are not aligned.

#include "common.glsl"
#include "halves.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint KIND = 0;
layout(constant_id = 1) const uint ALIGNS_CORNERS = 0;

const uint NEAREST = 0u;
const uint BILINEAR = 1u;
const uint SMOOTH = 2u;  // Bilinear, with a filter as wide as what a pixel of the result covers.

layout(binding = 0) writeonly buffer Out { uint out_[]; };
layout(binding = 1) readonly buffer In { uint in_[]; };

layout(push_constant) uniform Push {
  uint count;
  ivec2 size, out_size;  // Height, width.
  vec2 scale;
};

float pixel(int plane, int y, int x) {
  return FLOAT(in_, 1, (plane * size.x + y) * size.y + x);
}

// The triangle around a centre in one dimension: the pixels that it covers, and their weights
// without a common factor.
struct Filter {
  int first, end;
  float centre, inverse;
};

Filter filter_at(int at, float step_, int inputs) {
  float support = max(step_, 1.0);
  Filter f;
  f.inverse = 1.0 / support;
  precise float centre = step_ * (float(at) + 0.5);
  f.centre = centre;
  precise float low = centre - support + 0.5, high = centre + support + 0.5;
  f.first = min(int(clamp(low, 0.0, float(inputs - 1))), inputs - 1);
  f.end = clamp(int(clamp(high, 0.0, float(inputs))), f.first + 1, inputs);
  return f;
}

float weight(Filter f, int at) {
  return max(1.0 - abs((float(at) - f.centre + 0.5) * f.inverse), 0.0);
}

float smooth_at(int plane, ivec2 at) {
  Filter rows = filter_at(at.x, scale.x, size.x);
  Filter columns = filter_at(at.y, scale.y, size.y);
  float sum = 0.0, total_y = 0.0, total_x = 0.0;
  for (int x = columns.first; x < columns.end; ++x) total_x += weight(columns, x);
  for (int y = rows.first; y < rows.end; ++y) {
    float line = 0.0;
    for (int x = columns.first; x < columns.end; ++x) {
      line += weight(columns, x) * pixel(plane, y, x);
    }
    sum += weight(rows, y) * line;
    total_y += weight(rows, y);
  }
  float total = total_x * total_y;
  return total == 0.0 ? sum : sum / total;
}

float bilinear_at(int plane, ivec2 at) {
  vec2 last = vec2(size - 1);
  precise vec2 place = ALIGNS_CORNERS != 0u ? scale * vec2(at) : scale * (vec2(at) + 0.5) - 0.5;
  place = min(max(place, vec2(0.0)), last);
  ivec2 low = min(ivec2(place), size - 1);
  ivec2 high = min(low + 1, size - 1);
  precise vec2 part = min(place - vec2(low), vec2(1.0));
  precise float left = pixel(plane, low.x, low.y) * (1.0 - part.x) +
                       pixel(plane, high.x, low.y) * part.x;
  precise float right = pixel(plane, low.x, high.y) * (1.0 - part.x) +
                        pixel(plane, high.x, high.y) * part.x;
  precise float mixed = left * (1.0 - part.y) + right * part.y;
  return mixed;
}

uint element(uint index) {
  int rest = int(index);
  ivec2 at;
  at.y = rest % out_size.y; rest /= out_size.y;
  at.x = rest % out_size.x;
  int plane = rest / out_size.x;
  if (KIND == NEAREST) {
    precise vec2 place = floor(vec2(at) * scale);
    ivec2 from = ivec2(min(place, vec2(size - 1)));
    from = min(from, size - 1);
    return ELEMENT(in_, 1, (plane * size.x + from.x) * size.y + from.y);
  }
  return floatBitsToUint(KIND == BILINEAR ? bilinear_at(plane, at) : smooth_at(plane, at));
}

void main() { STORE_ALL(out_, count, element) }
