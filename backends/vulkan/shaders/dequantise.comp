#version 450
// Rows of weights that are integers of 4 or 8 bits with a scale for each group, as floats. The rows
// are all rows in order, or those that `indices` name. A thread makes one element; or eight, of whole
// words, as floats or as float16 (halves.glsl). Or bytes stand for NUMBERS numbers of a table each.

#include "common.glsl"
#include "halves.glsl"
#include "packed.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 1) const uint INDEXED = 0;
layout(constant_id = 2) const uint HIGH_FIRST = 0;  // Of the two in a byte; of 4 bits.
layout(constant_id = 3) const uint FORM = 0;        // ONE, EIGHT or EIGHT_HALVES.
layout(constant_id = 4) const uint NUMBERS = 0;     // 0: there is no table.

const uint ONE = 0u;
const uint EIGHT = 1u;
const uint EIGHT_HALVES = 2u;

layout(binding = 0) writeonly buffer Out { float out_[]; };
layout(binding = 0) writeonly buffer OutWide { vec4 out_wide_[]; };
layout(binding = 0) writeonly buffer OutHalves { uvec4 out_halves_[]; };
layout(binding = 1) readonly buffer Weights { uint weights_[]; };
layout(binding = 2) readonly buffer Scales { float scales_[]; };
layout(binding = 3) readonly buffer Indices { int indices_[]; };
layout(binding = 3) readonly buffer Table { float table_[]; };
layout(binding = 4) buffer Fault { uint fault_; };

layout(push_constant) uniform Push {
  uint count;                   // Of threads that write.
  uint k, row_bytes, group;
  uint scale_row, scale_group;  // Strides of the scales.
  int rows;                     // Indices are below it.
};

// Element i of the eight that begin at a word; the two of a byte may change places.
float weight_at(uint word, uint i) {
  if (BITS == 8u) return weight_of(weights_[word + i / 4], i % 4);
  return weight_of(weights_[word], i ^ HIGH_FIRST);
}

void write_eight(uint index) {
  uint first = index * 8, row = first / k, i = first % k;
  uint word = (row * row_bytes + i * BITS / 8) / 4;
  float scale = scales_[row * scale_row + i / group * scale_group];
  vec4 low, high;
  for (uint j = 0; j < 4; ++j) {
    low[j] = weight_at(word, j) * scale;
    high[j] = weight_at(word, j + 4) * scale;
  }
  if (FORM == EIGHT_HALVES) {
    out_halves_[index] = uvec4(packed(low), packed(high));
  } else {
    out_wide_[index * 2] = low;
    out_wide_[index * 2 + 1] = high;
  }
}

// Rows lie one behind the other, and begin with the first scale again after `rows`.
float looked_up(uint index) {
  uint at = index / NUMBERS;
  uint code = weights_[at / 4] >> at % 4 * 8 & 255u;
  return table_[code * NUMBERS + index % NUMBERS] * scales_[index / k % uint(rows)];
}

void main() {
  uint index = FLAT_GROUP * 256u + gl_LocalInvocationID.x;
  if (index >= count) return;
  if (FORM != ONE) {
    write_eight(index);
    return;
  }
  if (NUMBERS != 0u) {
    out_[index] = looked_up(index);
    return;
  }
  uint row = index / k, i = index % k;
  if (INDEXED != 0u) {
    int picked = indices_[row];
    if (picked < 0 || picked >= rows) {
      atomicOr(fault_, 1u);
      return;
    }
    row = uint(picked);
  }
  uint byte_ = row * row_bytes + i * BITS / 8;
  uint part = BITS == 4u ? byte_ % 4 * 2 + (i + HIGH_FIRST) % 2 : byte_ % 4;
  float scale = scales_[row * scale_row + i / group * scale_group];
  out_[index] = weight_of(weights_[byte_ / 4], part) * scale;
}
