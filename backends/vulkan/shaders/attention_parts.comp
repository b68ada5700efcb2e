#version 450
// What several workgroups of attention.comp made of the keys of a head, put together: the sums are
// scaled to the largest score of all. A thread computes one element of the result.

#include "common.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint HAS_MASK = 0;

layout(binding = 0) writeonly buffer Out { float out_[]; };
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
  float top = -INFINITY;
  for (uint i = 0; i < parts; ++i) top = max(top, parts_[from + i * step_ + width]);
  float sum = 0.0, total = 0.0;
  for (uint i = 0; i < parts; ++i) {
    uint at = from + i * step_;
    float own = parts_[at + width];
    float shrink = own == -INFINITY ? 1.0 : exp(own - top);  // NaN passes, and zeros stay zeros.
    sum += parts_[at + c] * shrink;
    total += parts_[at + width + 1] * shrink;
  }
  bool is_empty = total == 0.0 && HAS_MASK != 0u;
  out_[z / heads * out_batch + z % heads * out_head + query * out_row + c] =
      is_empty ? 0.0 : sum / total;
}
