// taper::lstm and taper::gru of floats over the vector code of recurrent.h.

#include "kernels_optimized/recurrent.h"

#include <cstring>

#include "kernels_optimized/overlay.h"
#include "kernels_optimized/scratch.h"

namespace taper::optimized {
namespace {

using portable::Recurrence;

const float* floats_of(const Tensor& tensor) { return tensor.const_data_ptr<float>(); }

// Whether the tensors fit; the portable kernel finds the words for those that do not.
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

void run_steps(const RecurrentLayer& layer, RecurrentStep step) {
  for (int64_t d = 0; d < layer.r.directions; ++d) {
    for (int64_t i = 0; i < layer.r.steps; ++i) step(layer, i, {d, 0, layer.r.blocks()});
  }
}

void run_projected(const RecurrentLayer& layer, RecurrentStep step, const float* projection) {
  const RecurrentProjection project = lstm_projection();
  for (int64_t d = 0; d < layer.r.directions; ++d) {
    for (int64_t i = 0; i < layer.r.steps; ++i) {
      step(layer, i, {d, 0, layer.r.blocks()});
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
    run_steps(layer, step);
  }
  portable::finish_recurrence(r, h0, out, h);
  return true;
}

bool fast_gru(KernelContext&, const Tensor& gates, const Tensor& h0, const Tensor& weight,
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
  run_steps(layer, step);
  portable::finish_recurrence(r, h0, out, h);
  return true;
}

}  // namespace

extern const Kernel kLstmOut, kGruOut;
const Kernel kLstmOut = overlay<fast_lstm, portable::kLstmOut>("taper::lstm.out");
const Kernel kGruOut = overlay<fast_gru, portable::kGruOut>("taper::gru.out");

}  // namespace taper::optimized
