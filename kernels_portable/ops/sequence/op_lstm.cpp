// taper::lstm.out: one layer of an LSTM, in one direction or both; recurrence.h says how its
// tensors are laid out.
//
//     i, f, g, o = gates[t] + h[t-1] x weight
//     c[t] = sigmoid(f) * c[t-1] + sigmoid(i) * tanh(g)        h[t] = sigmoid(o) * tanh(c[t])
//
//   Inputs    c0 [D, batch, units]; projection [D, units, outputs], by which h[t] is multiplied, or
//             none.
//   Memory    needs temp memory only with a projection: for one h[t] before it is projected.

#include <cstring>

#include "kernels_portable/cores/recurrence.h"
#include "kernels_portable/engine/compute.h"
#include "kernels_portable/engine/vector_math.h"

namespace taper::portable {
namespace {

struct Lstm {
  Recurrence r;
  const Tensor& gates;
  const Tensor& h0;
  const Tensor& weight;
  const Tensor* projection;
  Tensor& out;
  Tensor& c;
  void* scratch;  // Room for one h[t] before it is projected; null without a projection.

  Line place_of(int64_t d, int64_t i, int64_t b) const {
    const int64_t row = r.row(r.step_of(d, i), b) * r.directions + d;
    return part_of(out, row * r.outputs, r.outputs);
  }
};

// Computes one block of sixteen units, for one item of the batch at one step. `to` is the line of
// all units.
template <typename C>
void run_block(const Lstm& lstm, int64_t d, int64_t i, int64_t b, int64_t block, const Line& to) {
  const Recurrence& r = lstm.r;
  C sums[4 * kUnitsTogether], buffers[5][kUnitsTogether];
  recurrent_sums(r, lstm.weight, d, block, state_before(r, lstm.h0, lstm.out, d, i, b), sums);
  const int64_t first = block * kUnitsTogether;
  const int64_t count = r.units - first < kUnitsTogether ? r.units - first : kUnitsTogether;
  const int64_t row = (r.row(r.step_of(d, i), b) * r.directions + d) * 4 * r.units;
  const C* inputs[4];
  for (int64_t g = 0; g < 4; ++g) {
    inputs[g] = part_of(lstm.gates, row + g * r.units, r.units).read(first, count, buffers[g]);
  }
  const Line cells = part_of(lstm.c, (d * r.batch + b) * r.units, r.units);
  const C* before = cells.read(first, count, buffers[4]);
  C after[kUnitsTogether], result[kUnitsTogether];
  for (int64_t j = 0; j < count; ++j) {
    const C in = sigmoid_of(inputs[0][j] + sums[j]);
    const C forget = sigmoid_of(inputs[1][j] + sums[kUnitsTogether + j]);
    const C fresh = tanh_of(inputs[2][j] + sums[2 * kUnitsTogether + j]);
    const C open = sigmoid_of(inputs[3][j] + sums[3 * kUnitsTogether + j]);
    after[j] = forget * before[j] + in * fresh;
    result[j] = open * tanh_of(after[j]);
  }
  cells.write(first, count, after);
  to.write(first, count, result);
}

template <typename C>
void project(const Lstm& lstm, int64_t d, const Line& from, const Line& to) {
  constexpr int64_t kColumns = 64;
  const Recurrence& r = lstm.r;
  for_each_block(r.outputs, kColumns, [&](int64_t first, int64_t count) {
    C sums[kColumns] = {}, buffer[kColumns], factor;
    for (int64_t k = 0; k < r.units; ++k) {
      const C x = *from.read(k, 1, &factor);
      const Line row = part_of(*lstm.projection, (d * r.units + k) * r.outputs, r.outputs);
      const C* weights = row.read(first, count, buffer);
      for (int64_t j = 0; j < count; ++j) sums[j] += x * weights[j];
    }
    to.write(first, count, sums);
  });
}

template <typename C>
void run(const Lstm& lstm) {
  const Recurrence& r = lstm.r;
  const Line whole = {lstm.scratch, lstm.out.scalar_type(), 1, r.units};
  for (int64_t d = 0; d < r.directions; ++d) {
    for (int64_t i = 0; i < r.steps; ++i) {
      for (int64_t b = 0; b < r.batch; ++b) {
        const Line place = lstm.place_of(d, i, b);
        const Line& to = lstm.projection != nullptr ? whole : place;
        for (int64_t n = 0; n < r.blocks(); ++n) run_block<C>(lstm, d, i, b, n, to);
        if (lstm.projection != nullptr) project<C>(lstm, d, whole, place);
      }
    }
  }
}

Status lstm_out(KernelContext& context, const Tensor& gates, const Tensor& h0, const Tensor& c0,
                const Tensor& weight, const Tensor* projection, bool batch_first, Tensor& out,
                Tensor& h, Tensor& c) {
  Recurrence r;
  TAPER_TRY(begin_recurrence(4, gates, h0, weight, batch_first, out, h, &r));
  TAPER_TRY(check_part(c0, gates, {r.directions, r.batch, r.units}));
  TAPER_TRY(c.resize(c0.sizes()));
  TAPER_TRY(check_part(c, gates, {r.directions, r.batch, r.units}));
  void* scratch = nullptr;
  if (projection != nullptr) {
    TAPER_TRY(check_part(*projection, gates, {r.directions, r.units, r.outputs}));
    scratch =
        context.allocate_temp(static_cast<size_t>(r.units) * element_size(gates.scalar_type()));
    TAPER_REQUIRE(scratch != nullptr, Error::kMemoryAllocationFailed,
                  "lstm: a projection needs temp memory for all units of the layer");
  } else {
    TAPER_REQUIRE(r.outputs == r.units, Error::kInvalidArgument,
                  "lstm: without a projection, the size of the state must be the number of units");
  }
  if (c0.nbytes() != 0) std::memmove(c.mutable_data(), c0.const_data(), c0.nbytes());
  const Lstm lstm = {r, gates, h0, weight, projection, out, c, scratch};
  TAPER_TRY(with_float_type(gates.scalar_type(), [&](auto zero) {
    run<decltype(zero)>(lstm);
    return Status();
  }));
  finish_recurrence(r, h0, out, h);
  return {};
}

}  // namespace

extern const Kernel kLstmOut;
const Kernel kLstmOut = make_kernel<lstm_out>("taper::lstm.out");

}  // namespace taper::portable
