#version 450
// Elements of a table at places that an index tensor names, and the reverse: elements that go
// there.
//
//   gather   other[j] = table[place]          place = offset + i * strides + index[k] * stride
//   scatter  table[place] = other[j]          where several go to one place, the last one stays
//   combine  table[place] = f(table[place], other[j])
//
// i, j and k follow the sizes by strides. An index out of range sets the fault word.
//
// So that the last one stays, a scatter has two steps: each element leaves its number at its place
// in `owner`, where the largest stays; then the elements that find their own number are written.

#include "common.glsl"
#include "halves.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint ACTION = 0;
layout(constant_id = 1) const uint RANK = 1;
layout(constant_id = 2) const uint NEGATIVE = 0;   // Whether negative indices count from the end.
layout(constant_id = 3) const uint IS_VALUE = 0;   // Whether `value` stands for all of other.
layout(constant_id = 4) const uint FUNCTION = 0;   // Of COMBINE.

const uint GATHER = 0u;
const uint SCATTER = 1u;
const uint CLAIM = 2u;          // The first step of a scatter.
const uint SCATTER_OWNED = 3u;  // The second.
const uint COMBINE = 4u;

const uint ADD = 0u;
const uint MULTIPLY = 1u;
const uint MAXIMUM = 2u;
const uint MINIMUM = 3u;
const uint INT_ADD = 4u;
const uint INT_MULTIPLY = 5u;
const uint INT_MAXIMUM = 6u;
const uint INT_MINIMUM = 7u;

layout(binding = 0) buffer Table { uint table_[]; };
layout(binding = 1) buffer Other { uint other_[]; };
layout(binding = 2) readonly buffer Indices { int indices_[]; };
layout(binding = 3) buffer Fault { uint fault_; };
layout(binding = 4) buffer Owner { uint owner_[]; };

layout(push_constant) uniform Push {
  uint count;
  int limit;    // Indices are below it.
  int stride;   // Of the table, along the indexed dimension.
  uint value;
  int sizes[6];
  int table_strides[6];
  int other_strides[6];
  int index_strides[6];
};

uint combine(uint old, uint term) {
  float a = uintBitsToFloat(old), b = uintBitsToFloat(term);
  switch (FUNCTION) {
    case ADD: return floatBitsToUint(a + b);
    case MULTIPLY: return floatBitsToUint(a * b);
    case MAXIMUM: return is_nan(a) ? old : is_nan(b) || b > a ? term : old;
    case MINIMUM: return is_nan(a) ? old : is_nan(b) || b < a ? term : old;
    case INT_ADD: return old + term;
    case INT_MULTIPLY: return old * term;
    case INT_MAXIMUM: return uint(max(int(old), int(term)));
    case INT_MINIMUM: return uint(min(int(old), int(term)));
  }
  return term;
}

void main() {
  uint index = FLAT_GROUP * 256u + gl_LocalInvocationID.x;
  if (index >= count) return;
  int rest = int(index), place = 0, other = 0, from = 0;
  for (int d = int(RANK) - 1; d >= 0; --d) {
    int next = rest / sizes[d];
    int at = rest - next * sizes[d];
    rest = next;
    place += at * table_strides[d];
    other += at * other_strides[d];
    from += at * index_strides[d];
  }
  int picked = indices_[from];
  if (NEGATIVE != 0u && picked < 0) picked += limit;
  if (picked < 0 || picked >= limit) {
    atomicOr(fault_, 1u);
    return;
  }
  place += picked * stride;
  if (ACTION == GATHER) {
    STORE(other_, 1, uint(other), ELEMENT(table_, 0, place))
    return;
  }
  if (ACTION == CLAIM) {
    atomicMax(owner_[place], index + 1u);
    return;
  }
  if (ACTION == SCATTER_OWNED && owner_[place] != index + 1u) return;
  uint term = IS_VALUE != 0u ? value : ELEMENT(other_, 1, other);
  if (ACTION != COMBINE) {
    table_[place] = term;
    return;
  }
  if (FUNCTION == INT_ADD) {
    atomicAdd(table_[place], term);
    return;
  }
  uint old = table_[place];
  for (;;) {
    uint found = atomicCompSwap(table_[place], old, combine(old, term));
    if (found == old) return;
    old = found;
  }
}
