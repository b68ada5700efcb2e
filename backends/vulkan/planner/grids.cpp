#include "backends/vulkan/planner/grids.h"

#include <algorithm>
#include <cmath>

#include "backends/vulkan/planner/operators.h"

namespace taper::vulkan {
namespace {

// Integers of this dtype less this are signed bytes; negative: it is another dtype.
int32_t offset_of(ScalarType dtype) {
  return dtype == ScalarType::kChar ? 0 : dtype == ScalarType::kByte ? 128 : -1;
}

// Operators whose result has elements of their first argument alone.
constexpr std::string_view kMoves[] = {
    "aten.view_copy.default",      "aten._unsafe_view.default",
    "aten.clone.default",          "aten.squeeze_copy.default",
    "aten.squeeze_copy.dim",       "aten.squeeze_copy.dims",
    "aten.unsqueeze_copy.default", "aten.permute_copy.default",
    "aten.permute.default",        "aten.transpose_copy.int",
    "aten.t_copy.default",         "aten.expand_copy.default",
    "aten.slice_copy.Tensor",      "aten.slice.Tensor",
    "aten.select_copy.int",        "aten.select.int",
    "aten.flip.default",
};

class GridFinder {
 public:
  explicit GridFinder(PayloadGraph& graph) : graph_(graph), grids_(graph.values.size()) {}

  void run() {
    for (PayloadCall& call : graph_.calls) {
      if (call.is_fused) continue;
      if (call.op->is_product)
        call.factor = grids_[static_cast<size_t>(call.args[call.op->factors])];
      const FactorGrid grid = grid_of(call);
      for (const int32_t id : call.written()) grids_[static_cast<size_t>(id)] = {};
      grids_[static_cast<size_t>(call.result())] = grid;
    }
  }

 private:
  const PayloadValue& arg(const PayloadCall& call, size_t i) const {
    return graph_.values[static_cast<size_t>(call.args[i])];
  }

  // That of its result.
  FactorGrid grid_of(const PayloadCall& call) const {
    const std::string_view name = call.op->name;
    const Grid& grid = call.epilogue.grid;
    if (grid.form == Grid::Form::kNumbers) {
      return factor_grid(grid.scale, static_cast<int64_t>(grid.zero), grid.dtype);
    }
    if (grid.form != Grid::Form::kNone) return {};
    if (name == "quantized_decomposed.dequantize_per_tensor.default") {
      const bool is_stated = arg(call, 1).kind == Kind::kDouble &&
                             arg(call, 2).kind == Kind::kInt && !arg(call, 2).is_input;
      return is_stated ? factor_grid(arg(call, 1).real, arg(call, 2).integer, arg(call, 0).dtype)
                       : FactorGrid();
    }
    if (name == "quantized_decomposed.dequantize_per_tensor.tensor") return of_tensors(call);
    const bool moves = std::find(std::begin(kMoves), std::end(kMoves), name) != std::end(kMoves);
    return moves ? grids_[static_cast<size_t>(call.args[0])] : FactorGrid();
  }

  // dequantize_per_tensor.tensor(x, scale, zero_point, ...)
  FactorGrid of_tensors(const PayloadCall& call) const {
    const PayloadValue &x = arg(call, 0), &scale = arg(call, 1), &zero = arg(call, 2);
    const bool fits = x.kind == Kind::kTensor && offset_of(x.dtype) >= 0 &&
                      scale.kind == Kind::kTensor && scale.limits.numel() == 1 &&
                      zero.kind == Kind::kTensor && zero.limits.numel() == 1 &&
                      (zero.dtype == ScalarType::kInt || zero.dtype == ScalarType::kLong);
    if (!fits) return {};
    FactorGrid grid;
    grid.form = FactorGrid::Form::kTensors;
    grid.zero = -offset_of(x.dtype);
    grid.scale_tensor = call.args[1];
    grid.zero_tensor = call.args[2];
    return grid;
  }

  PayloadGraph& graph_;
  std::vector<FactorGrid> grids_;  // Of each value.
};

}  // namespace

FactorGrid factor_grid(double scale, int64_t zero, ScalarType dtype) {
  constexpr double kLeast = 0x1p-100, kMost = 0x1p100;
  const int32_t offset = offset_of(dtype);
  FactorGrid grid;
  if (offset < 0 || !(scale >= kLeast && scale <= kMost) || zero < offset - 128 ||
      zero > offset + 127) {
    return grid;
  }
  grid.form = FactorGrid::Form::kStated;
  grid.inverse = static_cast<float>(1.0 / scale);
  grid.scale = static_cast<float>(scale);
  grid.zero = static_cast<int32_t>(zero) - offset;
  return grid;
}

void find_grids(PayloadGraph& graph) { GridFinder(graph).run(); }

}  // namespace taper::vulkan
