#include "backends/vulkan/planner/fuse.h"

#include <algorithm>
#include <limits>

#include "backends/vulkan/planner/grids.h"
#include "backends/vulkan/planner/operators.h"
#include "backends/vulkan/planner/ops/quantise.h"
#include "backends/vulkan/planner/patterns.h"

namespace taper::vulkan {
namespace {

constexpr size_t kNobody = SIZE_MAX, kSeveral = SIZE_MAX - 1;

// For each value, the one call that reads it.
std::vector<size_t> find_readers(const PayloadGraph& graph) {
  std::vector<size_t> readers(graph.values.size(), kNobody);
  const auto note = [&](int32_t id, size_t call) {
    size_t& reader = readers[static_cast<size_t>(id)];
    reader = reader == kNobody ? call : kSeveral;
  };
  for (size_t i = 0; i < graph.calls.size(); ++i) {
    const PayloadCall& call = graph.calls[i];
    if (call.is_fused) continue;
    for (size_t k = 0; k + 1 < call.args.size(); ++k) {
      note(call.args[k], i);
      for (const int32_t item : graph.values[static_cast<size_t>(call.args[k])].values) {
        note(item, i);
      }
    }
    for (const int32_t id : {call.epilogue.added, call.norm.weight}) {
      if (id >= 0) note(id, i);
    }
  }
  for (const ValueId id : graph.outputs) readers[id] = kSeveral;
  return readers;
}

bool writes_state(const PayloadGraph& graph, const PayloadCall& call) {
  const PayloadValue& result = graph.values[static_cast<size_t>(call.result())];
  return result.is_state || call.op->num_written != 0 ||
         std::any_of(result.values.begin(), result.values.end(),
                     [&](int32_t id) { return graph.values[static_cast<size_t>(id)].is_state; });
}

constexpr int64_t kFewRows = 4;          // That multiply packed weights as they are.
constexpr int64_t kMostColumns = 16384;  // Each workgroup normalises, so they must not be many.

int64_t rows_of(const PayloadGraph& graph, int32_t id) {
  const Dims& dims = graph.values[static_cast<size_t>(id)].limits;
  return dims.rank == 0 ? 1 : dims.product(0, dims.rank - 1);
}

// Whether it is an RMS norm of the last dimension, with weights.
bool is_norm(const PayloadCall& call) {
  const std::string_view name = call.op->name;
  return !call.is_fused && (name == "et_vk.rms_norm.default" || name == "aten.rms_norm.default");
}

// A product of the same tensor with other constants moves up to one before it, so that no barrier
// stands between them.
void bring_products_together(PayloadGraph& graph) {
  constexpr size_t kFarthest = 64;
  const auto is_movable = [&](const PayloadCall& call) {
    const bool is_plain = call.epilogue.added < 0 && call.norm.weight < 0;
    if (!call.op->is_product || call.is_fused || !is_plain) return false;
    for (size_t k = 1; k + 1 < call.args.size(); ++k) {
      const PayloadValue& value = graph.values[static_cast<size_t>(call.args[k])];
      const bool is_fixed = value.kind == Kind::kTensor
                                ? value.is_constant && !value.is_state
                                : value.kind != Kind::kValues && value.kind != Kind::kSymInt;
      if (!is_fixed) return false;
    }
    return true;
  };
  std::vector<uint8_t> is_new(graph.values.size());  // No view, so that no state is written by it.
  for (size_t i = 0; i < graph.calls.size(); ++i) {
    const PayloadCall& call = graph.calls[i];
    if (is_norm(call)) is_new[static_cast<size_t>(call.result())] = 1;
    if (!call.op->is_product || call.is_fused) continue;
    const int32_t x = call.args[0];
    size_t at = i + 1;  // Where the next one goes.
    for (size_t j = i + 1; j < std::min(graph.calls.size(), i + kFarthest); ++j) {
      const PayloadCall product = graph.calls[j];
      if (is_new[static_cast<size_t>(x)] == 0 && writes_state(graph, product)) break;
      if (!is_movable(product) || product.args[0] != x) continue;
      const auto calls = graph.calls.begin();
      std::rotate(calls + static_cast<ptrdiff_t>(at), calls + static_cast<ptrdiff_t>(j),
                  calls + static_cast<ptrdiff_t>(j) + 1);
      ++at;
    }
    i = at - 1;
  }
}

// RMS norms of few rows that only products with packed weights read, which compute them as well.
class NormFusion {
 public:
  explicit NormFusion(PayloadGraph& graph) : graph_(graph), readers_(graph.values.size()) {
    for (size_t i = 0; i < graph.calls.size(); ++i) {
      const PayloadCall& call = graph.calls[i];
      if (call.is_fused) continue;
      for (size_t k = 0; k + 1 < call.args.size(); ++k) {
        const auto id = static_cast<size_t>(call.args[k]);
        readers_[id].push_back(k == 0 && takes_norm(call) ? i : kSeveral);
        for (const int32_t item : graph.values[id].values) {
          readers_[static_cast<size_t>(item)].push_back(kSeveral);
        }
      }
      for (const int32_t id : {call.epilogue.added, call.norm.weight}) {
        if (id >= 0) readers_[static_cast<size_t>(id)].push_back(kSeveral);
      }
    }
    for (const ValueId id : graph.outputs) readers_[id].push_back(kSeveral);
  }

  void run() {
    for (size_t i = 0; i < graph_.calls.size(); ++i) {
      if (is_norm(graph_.calls[i])) take(i);
    }
  }

 private:
  // linear_q4gsw(x, weights, scales, group, bias?), linear_q8csw(x, weights, scales, bias?)
  bool takes_norm(const PayloadCall& call) const {
    const std::string_view name = call.op->name;
    const size_t bias = name == "et_vk.linear_q4gsw.default"   ? 4
                        : name == "et_vk.linear_q8csw.default" ? 3
                                                               : 0;
    if (bias == 0 || call.norm.weight >= 0) return false;
    const Dims& weights = graph_.values[static_cast<size_t>(call.args[1])].limits;
    return graph_.values[static_cast<size_t>(call.args[bias])].kind == Kind::kNone &&
           weights.rank == 2 && weights[0] <= kMostColumns;
  }

  void take(size_t at) {
    const PayloadCall norm = graph_.calls[at];
    const bool is_short = std::string_view(norm.op->name) == "et_vk.rms_norm.default";
    const int32_t x = norm.args[0], weight = norm.args[is_short ? 1 : 2];
    const PayloadValue& eps = graph_.values[static_cast<size_t>(norm.args[is_short ? 2 : 3])];
    const PayloadValue& from = graph_.values[static_cast<size_t>(x)];
    const PayloadValue& by = graph_.values[static_cast<size_t>(weight)];
    const Dims& dims = from.limits;
    const std::vector<size_t>& readers = readers_[static_cast<size_t>(norm.result())];
    const auto is_product = [](size_t reader) { return reader != kSeveral; };
    const bool fits = !readers.empty() && std::all_of(readers.begin(), readers.end(), is_product) &&
                      eps.kind == Kind::kDouble && from.kind == Kind::kTensor && dims.rank > 0 &&
                      dims[dims.rank - 1] % 4 == 0 && rows_of(graph_, x) <= kFewRows &&
                      from.dtype == ScalarType::kFloat && by.kind == Kind::kTensor &&
                      by.dtype == ScalarType::kFloat && by.limits.rank == 1 &&
                      by.limits[0] == dims[dims.rank - 1] &&
                      graph_.values[static_cast<size_t>(norm.result())].limits == dims;
    if (!fits) return;
    for (size_t i = at; i <= readers.back(); ++i) {
      if (writes_state(graph_, graph_.calls[i])) return;
    }
    graph_.calls[at].is_fused = true;
    for (const size_t reader : readers) {
      PayloadCall& product = graph_.calls[reader];
      std::vector<int32_t> args(product.args.begin(), product.args.end());
      args[0] = x;
      const std::vector<int32_t>& kept = graph_.made_args.emplace_back(std::move(args));
      product.args = {kept.data(), kept.size()};
      product.norm = {weight, static_cast<float>(eps.real)};
    }
  }

  PayloadGraph& graph_;
  std::vector<std::vector<size_t>> readers_;  // Products that read a value; kSeveral for others.
};

struct Named {
  std::string_view name;
  Activation activation;
};
constexpr Named kActivations[] = {
    {"aten.sigmoid.default", Activation::kSigmoid},
    {"aten.silu.default", Activation::kSilu},
    {"aten.hardswish.default", Activation::kHardswish},
    {"aten.hardsigmoid.default", Activation::kHardsigmoid},
    {"aten.tanh.default", Activation::kTanh},
};

class Fusion {
 public:
  explicit Fusion(PayloadGraph& graph) : graph_(graph), readers_(find_readers(graph)) {}

  void run() {
    for (size_t i = 0; i < graph_.calls.size(); ++i) {
      const PayloadCall& call = graph_.calls[i];
      Epilogue epilogue = call.epilogue;
      if (call.is_fused) continue;
      if (call.op->is_product || take_integers(call, epilogue)) extend(i, epilogue);
    }
  }

 private:
  // Takes in what follows the call at `at`, a product or quantize_per_tensor, which ends with
  // `epilogue` so far.
  void extend(size_t at, Epilogue epilogue) {
    for (;;) {
      const PayloadCall product = graph_.calls[at];
      const int32_t result = product.result();
      const size_t reader = readers_[static_cast<size_t>(result)];
      if (reader >= graph_.calls.size() || reader <= at || graph_.calls[reader].is_fused) return;
      PayloadCall& next = graph_.calls[reader];
      const bool taken = take_activation(next, epilogue) || take_addition(next, result, epilogue) ||
                         take_factor(next, result, epilogue) || take_integers(next, epilogue) ||
                         take_numbers(next, epilogue);
      if (!taken || !have_same_sizes(result, next.result()) || writes_state(at, reader)) return;
      graph_.calls[at].is_fused = true;
      const int32_t fused_result = next.result();
      next = product;
      next.epilogue = epilogue;
      next.fused_result = fused_result;
      at = reader;
    }
  }

  // Whether a call between the two writes a state, which the product may read: it does not move
  // over it.
  bool writes_state(size_t first, size_t last) const {
    const auto calls = graph_.calls.begin();
    return std::any_of(
        calls + static_cast<ptrdiff_t>(first), calls + static_cast<ptrdiff_t>(last),
        [this](const PayloadCall& call) { return taper::vulkan::writes_state(graph_, call); });
  }

  const PayloadValue& arg(const PayloadCall& call, size_t i) const {
    return graph_.values[static_cast<size_t>(call.args[i])];
  }

  bool have_same_sizes(int32_t a, int32_t b) const {
    const PayloadValue& one = graph_.values[static_cast<size_t>(a)];
    const PayloadValue& other = graph_.values[static_cast<size_t>(b)];
    return !one.is_state && one.kind == Kind::kTensor && other.kind == Kind::kTensor &&
           one.limits == other.limits;
  }

  bool is_like(int32_t a, int32_t b) const {
    return have_same_sizes(a, b) && is_float(a) && is_float(b);
  }

  bool is_float(int32_t id) const {
    return graph_.values[static_cast<size_t>(id)].dtype == ScalarType::kFloat;
  }

  // Whether argument i is a number, or none for `otherwise`.
  bool number(const PayloadCall& call, size_t i, float otherwise, float& out) const {
    const PayloadValue& value = arg(call, i);
    if (value.kind == Kind::kNone) out = otherwise;
    if (value.kind == Kind::kDouble) out = static_cast<float>(value.real);
    if (value.kind == Kind::kInt) out = static_cast<float>(value.integer);
    return value.kind == Kind::kNone || value.kind == Kind::kDouble || value.kind == Kind::kInt;
  }

  bool take_activation(const PayloadCall& call, Epilogue& epilogue) const {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    if (epilogue.activation != Activation::kNone || epilogue.grid.form != Grid::Form::kNone ||
        !is_float(call.result()) || epilogue.residual == Residual::kAfterActivation ||
        epilogue.residual == Residual::kFactor) {
      return false;
    }
    const std::string_view name = call.op->name;
    for (const Named& each : kActivations) {
      if (each.name == name) epilogue.activation = each.activation;
    }
    if (name == "aten.gelu.default") {
      const bool is_tanh = arg(call, 1).kind == Kind::kText && arg(call, 1).text == "tanh";
      epilogue.activation = is_tanh ? Activation::kGeluTanh : Activation::kGelu;
    }
    const bool is_relu = name == "aten.relu.default", is_relu6 = name == "aten.relu6.default";
    const bool is_clamp = name == "aten.clamp.default" || name == "aten.hardtanh.default";
    if (is_relu || is_relu6 || is_clamp) {
      epilogue.activation = Activation::kClamp;
      epilogue.least = 0;
      epilogue.most = is_relu6 ? 6 : kInfinity;
    }
    if (is_clamp) {
      return number(call, 1, -kInfinity, epilogue.least) &&
             number(call, 2, kInfinity, epilogue.most);
    }
    return epilogue.activation != Activation::kNone;
  }

  // add(result, other) or add(other, result), without a factor.
  bool take_addition(const PayloadCall& call, int32_t result, Epilogue& epilogue) const {
    float alpha = 0;
    if (std::string_view(call.op->name) != "aten.add.Tensor" ||
        epilogue.grid.form != Grid::Form::kNone || epilogue.residual != Residual::kNone ||
        !number(call, 2, 1, alpha) || alpha != 1) {
      return false;
    }
    const int32_t other = call.args[0] == result ? call.args[1] : call.args[0];
    if (!is_like(result, other)) return false;
    epilogue.added = other;
    epilogue.residual = epilogue.activation == Activation::kNone ? Residual::kBeforeActivation
                                                                 : Residual::kAfterActivation;
    return true;
  }

  // mul(result, other) or mul(other, result): the last that is taken.
  bool take_factor(const PayloadCall& call, int32_t result, Epilogue& epilogue) const {
    if (std::string_view(call.op->name) != "aten.mul.Tensor" ||
        epilogue.grid.form != Grid::Form::kNone || epilogue.residual != Residual::kNone) {
      return false;
    }
    const int32_t other = call.args[0] == result ? call.args[1] : call.args[0];
    // A product of few rows does not fill a GPU: it had better run beside the other factor.
    if (!is_like(result, other) || rows_of(graph_, result) <= kFewRows) return false;
    epilogue.added = other;
    epilogue.residual = Residual::kFactor;
    return true;
  }

  // quantize_per_tensor(x, scale, zero_point, quant_min, quant_max, dtype)
  bool take_integers(const PayloadCall& call, Epilogue& epilogue) const {
    if (std::string_view(call.op->name) != "quantized_decomposed.quantize_per_tensor.default" ||
        epilogue.grid.form != Grid::Form::kNone) {
      return false;
    }
    const ScalarType dtype = graph_.values[static_cast<size_t>(call.result())].dtype;
    const bool fits = arg(call, 1).kind == Kind::kDouble && is_integer(call, 2) &&
                      is_integer(call, 3) && is_integer(call, 4) && is_dtype(call, 5, dtype) &&
                      make_grid(arg(call, 1).real, arg(call, 2).integer,
                                {arg(call, 3).integer, arg(call, 4).integer}, dtype, epilogue.grid);
    if (fits) epilogue.grid.form = Grid::Form::kIntegers;
    return fits;
  }

  // dequantize_per_tensor(x, scale, zero_point, quant_min, quant_max, dtype, out_dtype), if scale
  // and zero point are the same again.
  bool take_numbers(const PayloadCall& call, Epilogue& epilogue) const {
    if (std::string_view(call.op->name) != "quantized_decomposed.dequantize_per_tensor.default" ||
        epilogue.grid.form != Grid::Form::kIntegers) {
      return false;
    }
    const bool fits = arg(call, 1).kind == Kind::kDouble && is_integer(call, 2) &&
                      static_cast<float>(arg(call, 1).real) == epilogue.grid.scale &&
                      static_cast<float>(arg(call, 2).integer) == epilogue.grid.zero &&
                      is_dtype(call, 5, epilogue.grid.dtype) &&
                      is_dtype(call, 6, ScalarType::kFloat) && is_float(call.result());
    if (fits) epilogue.grid.form = Grid::Form::kNumbers;
    return fits;
  }

  bool is_integer(const PayloadCall& call, size_t i) const {
    return arg(call, i).kind == Kind::kInt && !arg(call, i).is_input;
  }

  // Whether argument i is that dtype, or not stated.
  bool is_dtype(const PayloadCall& call, size_t i, ScalarType dtype) const {
    const PayloadValue& value = arg(call, i);
    return value.kind == Kind::kNone ||
           (value.kind == Kind::kInt && value.integer == static_cast<int64_t>(dtype));
  }

  PayloadGraph& graph_;
  const std::vector<size_t> readers_;
};

}  // namespace

void fuse(PayloadGraph& graph) {
  find_patterns(graph);
  bring_products_together(graph);
  NormFusion(graph).run();
  Fusion(graph).run();
  find_grids(graph);
}

}  // namespace taper::vulkan
