// Layers of recurrent networks, a dispatch for each step. Semantics: kernels_portable, taper::lstm
// and taper::gru, to which the compiler brings those of PyTorch.

#include "backends/vulkan/planner/operators.h"
#include "backends/vulkan/planner/ops/strided.h"

namespace taper::vulkan {
namespace {

constexpr int64_t kUnitsTogether = 16;  // In a workgroup, and in a block of weights.
constexpr int64_t kMostSteps = 4096;    // Each is a dispatch.

struct Layer {
  Operand gates, h0, weight, out, h;
  Operand c0, c;  // Of an LSTM.
  Operand extra;  // A projection of an LSTM, or a bias of a GRU, if there is one.
  bool has_extra = false;
  int64_t count = 0;  // Gates of a unit.
  int64_t directions = 0, steps = 0, batch = 0, units = 0, states = 0;
  bool batch_first = false;
};

bool has_sizes(const Operand& x, const Dims& sizes) {
  return x.dims == sizes && x.dtype == ScalarType::kFloat;
}

// Checks the arguments that both kinds have, and declares the results that they have.
void read_layer(Call& call, int64_t count, size_t weight, Layer& r) {
  r.count = count;
  r.gates = call.tensor(0);
  r.h0 = call.tensor(1);
  r.weight = call.tensor(weight);
  r.has_extra = !call.is_none(weight + 1);
  if (r.has_extra) r.extra = call.tensor(weight + 1);
  r.batch_first = call.flag(weight + 2);
  if (!call.require(r.gates.dims.rank == 3 && r.h0.dims.rank == 3 &&
                        r.gates.dtype == ScalarType::kFloat && r.h0.dtype == ScalarType::kFloat,
                    "its tensors are no sequences of float32")) {
    return;
  }
  r.steps = r.gates.dims[r.batch_first ? 1 : 0];
  r.batch = r.gates.dims[r.batch_first ? 0 : 1];
  r.directions = r.h0.dims[0];
  r.states = r.h0.dims[2];
  const bool fits = r.directions >= 1 && r.directions <= 2 && r.h0.dims[1] == r.batch &&
                    r.gates.dims[2] % (r.directions * count) == 0;
  if (!call.require(fits, "its sizes do not fit together")) return;
  r.units = r.gates.dims[2] / (r.directions * count);
  const int64_t blocks = (r.units + kUnitsTogether - 1) / kUnitsTogether;
  call.require(has_sizes(r.weight, {4, {r.directions, blocks, r.states, count * kUnitsTogether}}),
               "its weights do not fit its units");
  call.require(r.steps <= kMostSteps, "it has too many steps");
  Dims dims = r.gates.dims;
  dims[2] = r.directions * r.states;
  r.out = call.result(0, dims, ScalarType::kFloat);
  r.h = call.result(1, r.h0.dims, ScalarType::kFloat);
}

struct Push {
  uint32_t units, states, batch, steps, steps_stride, batch_stride, step, out_steps, out_batch;
};

// What a step writes to, and what it reads the state before it from.
void dispatch_step(Call& call, const Layer& r, int64_t step, const Operand& to, bool is_whole) {
  const auto u32 = [](int64_t value) { return static_cast<uint32_t>(value); };
  const int64_t steps_stride = r.directions * (r.batch_first ? 1 : r.batch);
  const int64_t batch_stride = r.directions * (r.batch_first ? r.steps : 1);
  const Push push = {u32(r.units),
                     u32(r.states),
                     u32(r.batch),
                     u32(r.steps),
                     u32(steps_stride),
                     u32(batch_stride),
                     u32(step),
                     u32(is_whole ? 0 : steps_stride),
                     u32(is_whole ? r.directions : batch_stride)};
  const bool is_lstm = r.count == 4;
  call.dispatch(Shader::recurrent)
      .constant(u32(r.count))
      .constant(!is_lstm && r.has_extra)
      .push(push)
      .writes(to)
      .reads(r.gates)
      .reads(r.weight)
      .reads(step == 0 ? r.h0 : r.out);
  is_lstm ? call.writes(r.c) : call.writes(to);
  call.reads(is_lstm       ? r.c0
             : r.has_extra ? r.extra
                           : r.gates)
      .groups((r.units + kUnitsTogether - 1) / kUnitsTogether, r.directions, r.batch);
  if (!is_whole) return;
  call.dispatch(Shader::recurrent)
      .constant(0)
      .constant(0)
      .push(push)
      .writes(r.out)
      .reads(r.gates)
      .reads(r.extra)
      .reads(to)
      .writes(r.c)
      .reads(r.c0)
      .groups((r.states + kUnitsTogether - 1) / kUnitsTogether, r.directions, r.batch);
}

// The last state is a part of the result.
void copy_last(Call& call, const Layer& r) {
  const Dims sizes = {2, {r.batch, r.states}};
  const int64_t row = r.directions * r.states;
  for (int64_t d = 0; d < r.directions; ++d) {
    const int64_t last = d == 0 ? r.steps - 1 : 0;
    const int64_t first = last * row * (r.batch_first ? 1 : r.batch) + d * r.states;
    copy(call, sizes, {r.h, d * r.batch * r.states, {2, {r.states, 1}}},
         {r.out, first, {2, {row * (r.batch_first ? r.steps : 1), 1}}});
  }
}

void run(Call& call, const Layer& r) {
  const bool is_lstm = r.count == 4, is_projected = is_lstm && r.has_extra;
  Operand whole;
  if (is_projected) whole = call.temporary(r.batch * r.directions * r.units);
  if (r.steps == 0) {
    copy(call, r.h.dims, dense(r.h), dense(r.h0));
    if (is_lstm) copy(call, r.c.dims, dense(r.c), dense(r.c0));
  }
  for (int64_t step = 0; step < r.steps && call.ok(); ++step) {
    dispatch_step(call, r, step, is_projected ? whole : r.out, is_projected);
  }
  if (r.steps > 0) copy_last(call, r);
}

// lstm(gates, h0, c0, weight, projection?, bool batch_first) -> out, h, c
void plan_lstm(Call& call, int) {
  Layer r;
  read_layer(call, 4, 3, r);
  r.c0 = call.tensor(2);
  if (!call.ok()) return;
  const Dims cells = {3, {r.directions, r.batch, r.units}};
  call.require(has_sizes(r.c0, cells), "its cells do not fit its units");
  call.require(r.has_extra ? has_sizes(r.extra, {3, {r.directions, r.units, r.states}})
                           : r.states == r.units,
               "its states do not fit its units");
  r.c = call.result(2, cells, ScalarType::kFloat);
  if (call.ok()) run(call, r);
}

// gru(gates, h0, weight, bias?, bool batch_first) -> out, h
void plan_gru(Call& call, int) {
  Layer r;
  read_layer(call, 3, 2, r);
  if (!call.ok()) return;
  call.require(!r.has_extra || has_sizes(r.extra, {3, {r.directions, 1, r.units}}),
               "its bias does not fit its units");
  if (call.require(r.states == r.units, "its states do not fit its units")) run(call, r);
}

constexpr Operator kOperators[] = {
    {"taper.lstm.default", "taper::lstm.out", 6, plan_lstm},
    {"taper.gru.default", "taper::gru.out", 5, plan_gru},
};

}  // namespace

const Span<const Operator> kRecurrentOperators = kOperators;

}  // namespace taper::vulkan
