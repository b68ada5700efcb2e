// What taper::lstm and taper::gru share: the recurrent part of one layer of a recurrent network.
//
// The input part of the gates (input x weight + bias) is one matrix product over all steps, so the
// program computes it before and passes it in; these operators add the recurrent part (h x weight)
// step by step and apply the gates. Each unit has G gates (LSTM 4: input, forget, cell, output; GRU
// 3: reset, update, new).
//
//   gates    the input part: [steps, batch, D * G * units], or [batch, steps, ...]. D is the number
//            of directions, 1 or 2; the second one runs backwards. Includes the biases.
//   h0       [D, batch, outputs]; outputs equals units unless there is a projection.
//   weight   [D, blocks, outputs, G * 16]: units in blocks of 16, the last one padded with zeros.
//            In each block, everything that one element of h is multiplied by is contiguous.
//   out      like gates, with D * outputs; h (and c) are the last state, with the sizes of h0 (and
//            c0).
//
// All tensors are contiguous floats of one dtype. 16-bit floats are computed as float, and states
// are rounded to 16 bits after each step.

#pragma once

#include <cstdint>

#include "kernels_portable/engine/lines.h"
#include "taper/kernel.h"

namespace taper::portable {

inline constexpr int64_t kUnitsTogether = 16;

struct Recurrence {
  int64_t gates = 0;  // G, the gates of one unit.
  int64_t directions = 0, steps = 0, batch = 0;
  int64_t units = 0, outputs = 0;
  bool batch_first = false;

  int64_t blocks() const { return (units + kUnitsTogether - 1) / kUnitsTogether; }
  // The row of `gates` and of `out` that belongs to an item of the batch at a step.
  int64_t row(int64_t step, int64_t item) const {
    return batch_first ? item * steps + step : step * batch + item;
  }
  // The i-th step in the order of direction `d`.
  int64_t step_of(int64_t d, int64_t i) const { return d == 0 ? i : steps - 1 - i; }
};

// Checks the tensors above, for G = `count`, resizes out and h, and fills in `r`.
Status begin_recurrence(int64_t count, const Tensor& gates, const Tensor& h0, const Tensor& weight,
                        bool batch_first, Tensor& out, Tensor& h, Recurrence* r);
// Requires that `tensor` is contiguous and has these sizes and the dtype of `like`.
Status check_part(const Tensor& tensor, const Tensor& like, const int64_t (&sizes)[3]);

// Elements [first, first + size) of a contiguous tensor.
Line part_of(const Tensor& tensor, int64_t first, int64_t size);

// The state h of item `b` before the i-th step of direction `d`: in h0, or in out of the step
// before.
Line state_before(const Recurrence& r, const Tensor& h0, const Tensor& out, int64_t d, int64_t i,
                  int64_t b);

// Copies the last outputs, or h0 if there are no steps, to `h`.
void finish_recurrence(const Recurrence& r, const Tensor& h0, const Tensor& out, Tensor& h);

// sums[gate * 16 + unit] = sum over k of state[k] * weight[d, block, k, ...].
template <typename C>
void recurrent_sums(const Recurrence& r, const Tensor& weight, int64_t d, int64_t block,
                    const Line& state, C* sums) {
  constexpr int64_t kChunk = 64;
  C states[kChunk], buffer[4 * kUnitsTogether];
  const int64_t width = r.gates * kUnitsTogether;
  for (int64_t j = 0; j < width; ++j) sums[j] = 0;
  const Line rows =
      part_of(weight, (d * r.blocks() + block) * r.outputs * width, r.outputs * width);
  for_each_block(r.outputs, kChunk, [&](int64_t first, int64_t count) {
    const C* factors = state.read(first, count, states);
    for (int64_t k = 0; k < count; ++k) {
      const C* row = rows.read((first + k) * width, width, buffer);
      for (int64_t j = 0; j < width; ++j) sums[j] += factors[k] * row[j];
    }
  });
}

}  // namespace taper::portable
