// What taper::lstm and taper::gru share: one layer of a recurrent network after its input half.
//
// The input half of the gates of all steps is a plain product, so the program computes it before
// and hands it in; these operators add the recurrent half step by step and apply the gates. Each
// unit has G gates (LSTM 4: in, forget, fresh, out; GRU 3: reset, keep, fresh).
//
//   gates    [steps, batch, D * G * units], or [batch, steps, ...]; D is 1 or 2 directions, of which
//            the second one runs backwards. Biases are in it.
//   h0       [D, batch, outputs]; outputs is units unless they are projected.
//   weight   [D, blocks, outputs, G * 16]: units in blocks of 16, the last one filled up with
//            zeros; of each block all that one element of h is multiplied by lies together.
//   out      as gates, with D * outputs; h (and c) are the last state, of the sizes of h0 (and c0).
//
// All floats, of one dtype; contiguous. 16-bit ones are computed as float; states are rounded.

#pragma once

#include <cstdint>

#include "kernels_portable/lines.h"
#include "taper/kernel.h"

namespace taper::portable {

inline constexpr int64_t kUnitsTogether = 16;

struct Recurrence {
  int64_t gates = 0;  // Of a unit.
  int64_t directions = 0, steps = 0, batch = 0;
  int64_t units = 0, outputs = 0;
  bool batch_first = false;

  int64_t blocks() const { return (units + kUnitsTogether - 1) / kUnitsTogether; }
  // Of gates and out.
  int64_t row(int64_t step, int64_t item) const {
    return batch_first ? item * steps + step : step * batch + item;
  }
  // The step that direction `d` takes as its i-th.
  int64_t step_of(int64_t d, int64_t i) const { return d == 0 ? i : steps - 1 - i; }
};

// Checks everything about the tensors above and gives out and h their sizes. `name` stands for the
// operator; G is `count`.
Status begin_recurrence(int64_t count, const Tensor& gates, const Tensor& h0, const Tensor& weight,
                        bool batch_first, Tensor& out, Tensor& h, Recurrence* r);
// That `tensor` has these sizes, and the dtype of `like`; that it is contiguous.
Status check_part(const Tensor& tensor, const Tensor& like, const int64_t (&sizes)[3]);

// Elements [first, first + size) of a contiguous tensor.
Line part_of(const Tensor& tensor, int64_t first, int64_t size);

// What direction `d` reads as h of item `b` before its i-th step.
Line state_before(const Recurrence& r, const Tensor& h0, const Tensor& out, int64_t d, int64_t i,
                  int64_t b);

// Copies the last outputs to `h`, or h0 if there was no step.
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
