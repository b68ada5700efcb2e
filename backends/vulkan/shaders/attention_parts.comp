#version 450
// What several workgroups of attention.comp made of the keys of a head, put together: the sums are
// scaled to the largest score of all. A thread computes one element of the result.

#extension GL_EXT_control_flow_attributes : require
#include "common.glsl"
#include "halves.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint HAS_MASK = 0;

const uint AT_ONCE = 8;

layout(binding = 0) buffer Out { uint out_[]; };
layout(binding = 1) readonly buffer Parts { float parts_[]; };  // Sums, largest score, total.

layout(push_constant) uniform Push {
  uint count;
  uint parts, queries, width, heads;
  uint out_batch, out_head, out_row;
};

void main() {
  uint index = FLAT_GROUP * 256u + gl_LocalInvocationID.x;
  if (index >= count) return;
  uint c = index % width, query = index / width % queries, z = index / width / queries;
  uint step_ = queries * (width + 2);
  uint from = (z * parts * queries + query) * (width + 2);
  float top = -INFINITY, sum = 0.0, total = 0.0;
  // Several are read at once, since reading takes far longer than what is done with them.
  for (uint begin = 0; begin < parts; begin += AT_ONCE) {
    float tops[AT_ONCE], sums[AT_ONCE], totals[AT_ONCE];
    [[unroll]] for (uint i = 0; i < AT_ONCE; ++i) {
      uint at = from + min(begin + i, parts - 1) * step_;
      tops[i] = parts_[at + width];
      totals[i] = parts_[at + width + 1];
      sums[i] = parts_[at + c];
    }
    float before = top;
    [[unroll]] for (uint i = 0; i < AT_ONCE; ++i) top = max(top, tops[i]);
    float shrink = before == -INFINITY ? 1.0 : exp(before - top);  // NaN passes, zeros stay zeros.
    sum *= shrink;
    total *= shrink;
    [[unroll]] for (uint i = 0; i < AT_ONCE; ++i) {
      if (begin + i >= parts) break;
      float own = tops[i] == -INFINITY ? 1.0 : exp(tops[i] - top);
      sum += sums[i] * own;
      total += totals[i] * own;
    }
  }
  bool is_empty = total == 0.0 && HAS_MASK != 0u;
  uint to = z / heads * out_batch + z % heads * out_head + query * out_row + c;
  STORE(out_, 0, to, floatBitsToUint(is_empty ? 0.0 : sum / total))
}
