#version 450
// One step of a layer of an LSTM (four gates) or a GRU (three), in one direction or both, or the
// product of an LSTM's states with a projection (no gates). kernels_portable/cores/recurrence.h
// says how the tensors are laid out.
//
// A workgroup computes sixteen units for one item of the batch; sixteen threads add up each.

#include "common.glsl"
#include "functions.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint GATES = 4;
layout(constant_id = 1) const uint HAS_BIAS = 0;

layout(binding = 0) writeonly buffer Out { float out_[]; };
layout(binding = 1) readonly buffer Gates { float gates_[]; };
layout(binding = 2) readonly buffer Weight { float weight_[]; };
layout(binding = 3) readonly buffer State { float state_[]; };
layout(binding = 4) buffer Cells { float cells_[]; };
layout(binding = 5) readonly buffer Before { float before_[]; };  // The first cells, or the bias.

layout(push_constant) uniform Push {
  uint units, states;  // `states` are the elements of a state, and units of the result.
  uint batch, steps;
  uint steps_stride, batch_stride;  // Of rows: the number of directions is part of them.
  uint step;
  uint out_steps, out_batch;  // Strides of the result.
};

shared float sums_[4][256];

// The row of this step, or of the one before it, in a direction.
uint row_of(uint direction, uint at, uint item) {
  uint step_at = direction == 0u ? at : steps - 1u - at;
  return step_at * steps_stride + item * batch_stride + direction;
}

// Adds up what the threads of each unit have.
void add_up(uint thread, uint gates) {
  barrier();
  for (uint half_count = 8u; half_count > 0u; half_count /= 2u) {
    if (thread < half_count * 16u) {
      for (uint g = 0u; g < gates; ++g) sums_[g][thread] += sums_[g][thread + half_count * 16u];
    }
    barrier();
  }
}

void project(uint thread, uint direction, uint item) {
  uint unit = gl_WorkGroupID.x * 16u + thread % 16u;
  uint from = (item * gl_NumWorkGroups.y + direction) * units;
  float sum = 0.0;
  for (uint k = thread / 16u; k < units && unit < states; k += 16u) {
    sum = fma(state_[from + k], weight_[(direction * units + k) * states + unit], sum);
  }
  sums_[0][thread] = sum;
  add_up(thread, 1u);
  if (thread < 16u && unit < states) {
    out_[row_of(direction, step, item) * states + unit] = sums_[0][thread];
  }
}

void main() {
  uint thread = gl_LocalInvocationID.x;
  uint direction = gl_WorkGroupID.y, item = gl_WorkGroupID.z;
  if (GATES == 0u) {
    project(thread, direction, item);
    return;
  }
  uint block = gl_WorkGroupID.x;
  uint unit = block * 16u + thread % 16u;
  uint from = (step == 0u ? direction * batch + item : row_of(direction, step - 1u, item)) * states;
  uint width = GATES * 16u;
  uint weights = (direction * gl_NumWorkGroups.x + block) * states * width + thread % 16u;
  float sums[4] = float[](0.0, 0.0, 0.0, 0.0);
  for (uint k = thread / 16u; k < states; k += 16u) {
    float factor = state_[from + k];
    for (uint g = 0u; g < GATES; ++g) {
      sums[g] = fma(factor, weight_[weights + k * width + g * 16u], sums[g]);
    }
  }
  for (uint g = 0u; g < GATES; ++g) sums_[g][thread] = sums[g];
  add_up(thread, GATES);
  if (thread >= 16u || unit >= units) return;
  uint row = row_of(direction, step, item);
  uint input_at = row * GATES * units + unit;
  uint to = direction == 0u ? step : steps - 1u - step;
  to = (to * out_steps + item * out_batch + direction) * units + unit;
  if (GATES == 4u) {
    uint cell = (direction * batch + item) * units + unit;
    float kept = step == 0u ? before_[cell] : cells_[cell];
    float take = sigmoid_of(gates_[input_at] + sums_[0][thread]);
    float forget = sigmoid_of(gates_[input_at + units] + sums_[1][thread]);
    float fresh = tanh_of(gates_[input_at + 2u * units] + sums_[2][thread]);
    float open = sigmoid_of(gates_[input_at + 3u * units] + sums_[3][thread]);
    float after = forget * kept + take * fresh;
    cells_[cell] = after;
    out_[to] = open * tanh_of(after);
  } else {
    float kept = state_[from + unit];
    float bias = HAS_BIAS != 0u ? before_[direction * units + unit] : 0.0;
    float reset = sigmoid_of(gates_[input_at] + sums_[0][thread]);
    float keep = sigmoid_of(gates_[input_at + units] + sums_[1][thread]);
    float fresh = tanh_of(gates_[input_at + 2u * units] + reset * (sums_[2][thread] + bias));
    out_[to] = fresh + keep * (kept - fresh);
  }
}
