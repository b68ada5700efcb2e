#version 450
// Adds one of several index tensors to the places that they name together:
// flat[i] += index[i, broadcast] * stride. An index out of range sets the fault word.

#include "common.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint RANK = 1;
layout(constant_id = 1) const uint IS_FIRST = 0;  // Then flat has no elements yet.

layout(binding = 0) buffer Flat { int flat_[]; };
layout(binding = 1) readonly buffer Indices { int indices_[]; };
layout(binding = 2) buffer Fault { uint fault_; };

layout(push_constant) uniform Push {
  uint count;
  int limit;   // Indices are below it; negative ones count from the end.
  int stride;
  int sizes[8];
  int strides[8];
};

void main() {
  uint index = FLAT_GROUP * 256u + gl_LocalInvocationID.x;
  if (index >= count) return;
  int rest = int(index), from = 0;
  for (int d = int(RANK) - 1; d >= 0; --d) {
    int next = rest / sizes[d];
    from += (rest - next * sizes[d]) * strides[d];
    rest = next;
  }
  int picked = indices_[from];
  if (picked < 0) picked += limit;
  if (picked < 0 || picked >= limit) {
    atomicOr(fault_, 1u);
    picked = 0;
  }
  flat_[index] = (IS_FIRST != 0u ? 0 : flat_[index]) + picked * stride;
}
