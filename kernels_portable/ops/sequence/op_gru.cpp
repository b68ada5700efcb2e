// taper::gru.out: one layer of a GRU, in one direction or both; recurrence.h says how its tensors
// are laid out.
//
//     x_r, x_z, x_n = gates[t]        h_r, h_z, h_n = h[t-1] x weight
//     r = sigmoid(x_r + h_r)   z = sigmoid(x_z + h_z)   n = tanh(x_n + r * (h_n + bias))
//     h[t] = n + z * (h[t-1] - n)
//
//   Inputs    bias [D, 1, units] or none.
//   Memory    needs no temp memory.

#include "kernels_portable/cores/recurrence.h"
#include "kernels_portable/engine/compute.h"
#include "kernels_portable/engine/vector_math.h"

namespace taper::portable {
namespace {

struct Gru {
  Recurrence r;
  const Tensor& gates;
  const Tensor& h0;
  const Tensor& weight;
  const Tensor* bias;
  Tensor& out;
};

// Computes one block of sixteen units, for one item of the batch at one step.
template <typename C>
void run_block(const Gru& gru, int64_t d, int64_t i, int64_t b, int64_t block) {
  const Recurrence& r = gru.r;
  const Line state = state_before(r, gru.h0, gru.out, d, i, b);
  C sums[3 * kUnitsTogether], buffers[4][kUnitsTogether], biases[kUnitsTogether] = {};
  recurrent_sums(r, gru.weight, d, block, state, sums);
  const int64_t first = block * kUnitsTogether;
  const int64_t count = r.units - first < kUnitsTogether ? r.units - first : kUnitsTogether;
  const int64_t row = r.row(r.step_of(d, i), b) * r.directions + d;
  const C* inputs[3];
  for (int64_t g = 0; g < 3; ++g) {
    const Line gate = part_of(gru.gates, (row * 3 + g) * r.units, r.units);
    inputs[g] = gate.read(first, count, buffers[g]);
  }
  const C* before = state.read(first, count, buffers[3]);
  const C* bias = biases;
  if (gru.bias != nullptr)
    bias = part_of(*gru.bias, d * r.units, r.units).read(first, count, biases);
  C result[kUnitsTogether];
  for (int64_t j = 0; j < count; ++j) {
    const C reset = sigmoid_of(inputs[0][j] + sums[j]);
    const C keep = sigmoid_of(inputs[1][j] + sums[kUnitsTogether + j]);
    const C fresh = tanh_of(inputs[2][j] + reset * (sums[2 * kUnitsTogether + j] + bias[j]));
    result[j] = fresh + keep * (before[j] - fresh);
  }
  part_of(gru.out, row * r.units, r.units).write(first, count, result);
}

template <typename C>
void run(const Gru& gru) {
  const Recurrence& r = gru.r;
  for (int64_t d = 0; d < r.directions; ++d) {
    for (int64_t i = 0; i < r.steps; ++i) {
      for (int64_t b = 0; b < r.batch; ++b) {
        for (int64_t n = 0; n < r.blocks(); ++n) run_block<C>(gru, d, i, b, n);
      }
    }
  }
}

Status gru_out(KernelContext&, const Tensor& gates, const Tensor& h0, const Tensor& weight,
               const Tensor* bias, bool batch_first, Tensor& out, Tensor& h) {
  Recurrence r;
  TAPER_TRY(begin_recurrence(3, gates, h0, weight, batch_first, out, h, &r));
  TAPER_REQUIRE(r.outputs == r.units, Error::kInvalidArgument,
                "gru: the size of the state must be the number of units");
  if (bias != nullptr) TAPER_TRY(check_part(*bias, gates, {r.directions, 1, r.units}));
  const Gru gru = {r, gates, h0, weight, bias, out};
  TAPER_TRY(with_float_type(gates.scalar_type(), [&](auto zero) {
    run<decltype(zero)>(gru);
    return Status();
  }));
  finish_recurrence(r, h0, out, h);
  return {};
}

}  // namespace

extern const Kernel kGruOut;
const Kernel kGruOut = make_kernel<gru_out>("taper::gru.out");

}  // namespace taper::portable
