// taper::lstm and taper::gru of floats over the vector code of recurrent.h.

#include "kernels_optimized/cores/recurrent.h"

#include <cstring>

#include "kernels_optimized/cores/recurrent_team.h"
#include "kernels_optimized/engine/overlay.h"
#include "kernels_optimized/engine/parallel.h"

namespace taper::optimized {
namespace {

using portable::Recurrence;

// A step of fewer units of work than this is not divided among threads.
constexpr int64_t kStepWork = 5000;
// With at least this many items per thread, it pays to divide by items although every thread then
// reads all weights.
constexpr int64_t kItemsApart = 4;

const float* floats_of(const Tensor& tensor) { return tensor.const_data_ptr<float>(); }

// Describes the layer. Returns false if the tensors do not fit; the portable kernel then reports
// why.
bool begin(int64_t count, const Tensor& gates, const Tensor& h0, const Tensor& weight,
           bool batch_first, Tensor& out, Tensor& h, RecurrentLayer* layer) {
  if (!are_float(gates, h0, weight, out, h)) return false;
  const Status status =
      portable::begin_recurrence(count, gates, h0, weight, batch_first, out, h, &layer->r);
  if (!status.ok()) return false;
  layer->gates = floats_of(gates);
  layer->h0 = floats_of(h0);
  layer->weight = floats_of(weight);
  layer->out = out.mutable_data_ptr<float>();
  return true;
}

// Computes all steps of a part: one direction, some items.
void run_items(const RecurrentLayer& layer, RecurrentStep step, const RecurrentPart& part) {
  for (int64_t i = 0; i < layer.r.steps; ++i) step(layer, i, part);
}

void run_steps(const ThreadPool& pool, const RecurrentLayer& layer, RecurrentStep step) {
  const Recurrence& r = layer.r;
  const int64_t per_item = r.blocks() * portable::kUnitsTogether * r.gates * r.outputs;
  const int64_t work = per_item * r.batch * r.directions / kMultiplicationsPerUnit;
  const int64_t parts = parts_of(pool, r.steps > 0 ? work * r.steps : 0, kMostMembers);
  // Directions and items are independent of each other; blocks must synchronise after every step.
  const int64_t apart = r.directions * std::max<int64_t>(1, r.batch / kItemsApart);
  if (parts <= apart || work < kStepWork) {
    const int64_t groups = std::max<int64_t>(1, std::min(parts, apart) / r.directions);
    const auto run = [&](size_t i) {
      const auto d = static_cast<int64_t>(i) / groups, group = static_cast<int64_t>(i) % groups;
      run_items(layer, step,
                {d, 0, r.blocks(), group * r.batch / groups, (group + 1) * r.batch / groups});
    };
    parallel_for(parts > 1 ? pool : ThreadPool(), static_cast<size_t>(r.directions * groups), run);
    return;
  }
  RecurrentTeam team(layer, step, std::min(parts, r.directions * r.blocks()));
  const auto join = [&](size_t member) { team.join(static_cast<int64_t>(member)); };
  parallel_for(pool, static_cast<size_t>(team.members()), join);
}

void run_projected(const RecurrentLayer& layer, RecurrentStep step, const float* projection) {
  const RecurrentProjection project = lstm_projection();
  for (int64_t d = 0; d < layer.r.directions; ++d) {
    for (int64_t i = 0; i < layer.r.steps; ++i) {
      step(layer, i, {d, 0, layer.r.blocks(), 0, layer.r.batch});
      project(layer, i, d, projection);
    }
  }
}

bool fast_lstm(KernelContext& context, const Tensor& gates, const Tensor& h0, const Tensor& c0,
               const Tensor& weight, const Tensor* projection, bool batch_first, Tensor& out,
               Tensor& h, Tensor& c) {
  const RecurrentStep step = lstm_step();
  RecurrentLayer layer;
  if (step == nullptr || !begin(4, gates, h0, weight, batch_first, out, h, &layer)) return false;
  const Recurrence& r = layer.r;
  const int64_t sizes[] = {r.directions, r.batch, r.units};
  if (!portable::check_part(c0, gates, sizes).ok() || !are_float(c) || !c.resize(c0.sizes()).ok() ||
      !portable::check_part(c, gates, sizes).ok()) {
    return false;
  }
  layer.cells = c.mutable_data_ptr<float>();
  if (projection != nullptr) {
    if (!portable::check_part(*projection, gates, {r.directions, r.units, r.outputs}).ok()) {
      return false;
    }
    layer.whole = scratch_floats(context, r.batch * r.units).data();
    if (layer.whole == nullptr) return false;
  } else if (r.outputs != r.units) {
    return false;
  }
  std::memmove(layer.cells, c0.const_data(), c0.nbytes());
  if (projection != nullptr) {
    run_projected(layer, step, floats_of(*projection));
  } else {
    run_steps(context.pool(), layer, step);
  }
  portable::finish_recurrence(r, h0, out, h);
  return true;
}

bool fast_gru(KernelContext& context, const Tensor& gates, const Tensor& h0, const Tensor& weight,
              const Tensor* bias, bool batch_first, Tensor& out, Tensor& h) {
  const RecurrentStep step = gru_step();
  RecurrentLayer layer;
  if (step == nullptr || !begin(3, gates, h0, weight, batch_first, out, h, &layer)) return false;
  const Recurrence& r = layer.r;
  if (r.outputs != r.units) return false;
  if (bias != nullptr) {
    if (!portable::check_part(*bias, gates, {r.directions, 1, r.units}).ok()) return false;
    layer.bias = floats_of(*bias);
  }
  run_steps(context.pool(), layer, step);
  portable::finish_recurrence(r, h0, out, h);
  return true;
}

}  // namespace

extern const Kernel kLstmOut, kGruOut;
const Kernel kLstmOut = overlay<fast_lstm, portable::kLstmOut>("taper::lstm.out");
const Kernel kGruOut = overlay<fast_gru, portable::kGruOut>("taper::gru.out");

}  // namespace taper::optimized
