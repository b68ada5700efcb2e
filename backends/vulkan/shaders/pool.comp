#version 450
// Pooling: a thread reduces the window of one element of the result, by its maximum or its mean.
//
// Output y covers the inputs y * stride - pad + t * dilation, for t below the window's size.
// Windows of adaptive pooling are y * in / out up to (y + 1) * in / out, rounded outwards.

#include "common.glsl"
#include "halves.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint KIND = 0;
layout(constant_id = 1) const uint IS_FLOAT = 1;     // Of a maximum: otherwise elements are integers.
layout(constant_id = 2) const uint INDICES = 0;      // Of a maximum: whether its place is stored.
layout(constant_id = 3) const uint COUNTS_PAD = 0;   // Of a mean: whether padding is in the divisor.

const uint MAXIMUM = 0u;
const uint MEAN = 1u;
const uint ADAPTIVE_MEAN = 2u;

layout(binding = 0) writeonly buffer Out { uint out_[]; };
layout(binding = 1) readonly buffer In { uint in_[]; };
layout(binding = 2) writeonly buffer Indices { uint indices_[]; };

layout(push_constant) uniform Push {
  uint count;
  ivec2 size, out_size, window, stride, pad, dilation;  // Height, width.
  int divisor;                                          // Of a mean, if it is not 0.
};

// The larger of two elements of which NaN is the largest; of equal ones the first.
bool is_better(uint a, uint best) {
  if (IS_FLOAT == 0u) return int(a) > int(best);
  return is_nan(uintBitsToFloat(a)) || uintBitsToFloat(a) > uintBitsToFloat(best);
}

uint element(uint index) {
  int rest = int(index);
  ivec2 at;
  at.y = rest % out_size.y; rest /= out_size.y;
  at.x = rest % out_size.x; rest /= out_size.x;
  int plane = rest * size.x * size.y;

  ivec2 start = at * stride - pad;
  ivec2 first, end;  // The taps that lie inside.
  if (KIND == ADAPTIVE_MEAN) {
    start = ivec2(0);
    // Quotients and remainders apart, so that products stay small.
    ivec2 whole = size / out_size, more = size - whole * out_size;
    first = at * whole + at * more / out_size;
    end = (at + 1) * whole + ((at + 1) * more + out_size - 1) / out_size;
  } else {
    first = (max(-start, ivec2(0)) + dilation - 1) / dilation;
    end = min(window, (max(size - start, ivec2(0)) + dilation - 1) / dilation);
  }

  if (KIND == MAXIMUM) {
    uint best = IS_FLOAT != 0u ? floatBitsToUint(-INFINITY) : 0x80000000u;
    int where = -1;
    for (int y = first.x; y < end.x; ++y) {
      int row = (start.x + y * dilation.x) * size.y + start.y;
      for (int x = first.y; x < end.y; ++x) {
        int here = row + x * dilation.y;
        uint value = ELEMENT(in_, 1, plane + here);
        if (where < 0 || is_better(value, best)) {
          best = value;
          where = here;
        }
      }
    }
    if (INDICES != 0u) indices_[index] = uint(max(where, 0));
    return best;
  }

  float sum = 0.0;
  for (int y = first.x; y < end.x; ++y) {
    int row = plane + (start.x + y) * size.y + start.y;
    float line = 0.0;
    for (int x = first.y; x < end.y; ++x) line += FLOAT(in_, 1, row + x);
    sum += line;
  }
  ivec2 inside = max(end - first, ivec2(0));
  ivec2 covered = COUNTS_PAD != 0u ? min(start + window, size + pad) - start : inside;
  int by = KIND == MEAN && divisor != 0 ? divisor : covered.x * covered.y;
  return floatBitsToUint(inside.x * inside.y == 0 ? 0.0 : sum / float(by));
}

void main() { STORE_ALL(out_, count, element) }
