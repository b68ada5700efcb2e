// Samples volumes at the positions of a grid: v[n, :, z, y, x] at grid[n, ..., (x, y, z)], whose
// coordinates run from -1 to 1 along each dimension.

#include <array>

#include "exir/decompose/rules.h"

namespace taper::exir {
namespace {

enum Padding : int64_t { kZeros = 0, kBorder = 1, kReflection = 2 };

// Sampling positions along one dimension: the index at or below each, and the fraction beyond it.
struct Axis {
  Sym size;
  Value* low;       // Integers, held as floats.
  Value* fraction;  // Null for nearest sampling.
};

// Reflects x at `low` / 2 and `high` / 2 until it lies between them.
Value* reflect(Builder& b, Value* x, const Sym& low, const Sym& high) {
  Value* half = b.full(x->type.sizes, 0.5, x->type.dtype);
  Value* start = b.mul(half, b.size(low));
  Value* span = b.mul(half, b.size(high - low));
  Value* from_low = b.op("abs", {b.sub(x, start)});
  Value* extra = b.op("fmod.Tensor", {from_low, span});
  Value* flips = b.op("floor", {b.div(from_low, span)});
  Value* even = b.op("eq.Scalar", {b.op("remainder.Scalar", {flips, 2.0}), 0.0});
  return b.where(even, b.add(extra, start), b.add(b.sub(span, extra), start));
}

// Maps coordinates in [-1, 1] to positions along a dimension and applies the padding mode.
Value* place(Builder& b, Value* x, const Sym& size, bool corners, int64_t padding) {
  x = b.add(x, 1.0);
  x = corners ? b.mul(b.mul(x, 0.5), b.size(size - Sym(1)))
              : b.mul(b.sub(b.mul(x, b.size(size)), 1.0), 0.5);
  if (padding == kZeros) return x;
  if (padding == kReflection) {
    if (corners && size == Sym(1)) {
      x = b.mul(x, 0.0);
    } else {
      x = corners ? reflect(b, x, 0, Sym(2) * (size - Sym(1)))
                  : reflect(b, x, -1, Sym(2) * size - Sym(1));
    }
  }
  return b.op("clamp", {x, 0.0, b.size(size - Sym(1))});
}

// The weighted values at one corner of each cell, zeros outside the volume. Bit d of `which`
// selects the upper corner along dimension d.
Value* corner(Builder& b, Value* flat, const std::array<Axis, 3>& axes, int which) {
  Value* index = nullptr;
  Value* inside = nullptr;
  Value* weight = nullptr;
  for (int d = 0; d < 3; ++d) {
    const Axis& axis = axes[static_cast<size_t>(d)];
    const bool upper = (which >> d & 1) != 0;
    Value* at = upper ? b.add(axis.low, 1.0) : axis.low;
    const Argument last = b.size(axis.size - Sym(1));
    Value* within =
        b.op("logical_and", {b.op("ge.Scalar", {at, 0.0}), b.op("le.Scalar", {at, last})});
    inside = inside == nullptr ? within : b.op("logical_and", {inside, within});
    Value* whole = b.cast(b.where(within, at, 0.0), ScalarType::kLong);
    index = index == nullptr ? whole : b.add(b.mul(index, b.size(axis.size)), whole);
    if (axis.fraction == nullptr) continue;
    Value* part = upper ? axis.fraction : b.op("rsub.Scalar", {axis.fraction, 1.0});
    weight = weight == nullptr ? part : b.mul(weight, part);
  }
  const std::vector<Sym> sizes = {dim_of(flat, 0), dim_of(flat, 1), dim_of(index, -1)};
  Value* values = b.op("gather", {flat, 2, b.expand(b.unsqueeze(index, 1), sizes)});
  if (weight != nullptr) values = b.mul(values, b.unsqueeze(weight, 1));
  return b.where(b.unsqueeze(inside, 1), values, 0.0);
}

void grid_sampler_3d(Builder& b) {
  Value* x = b.in("input");
  Value* grid = b.in("grid");
  const int64_t mode = b.arg("interpolation_mode").to_int(),
                padding = b.arg("padding_mode").to_int();
  if (mode != 0 && mode != 1) throw Failure("grid_sampler_3d samples linearly or the nearest");
  const Sym count = dim_of(grid, 1) * dim_of(grid, 2) * dim_of(grid, 3);
  std::array<Axis, 3> axes;
  for (int64_t d = 0; d < 3; ++d) {  // Depth, height, width; the grid has x first.
    Value* at = b.view(b.select(grid, -1, 2 - d), {dim_of(grid, 0), count});
    const Sym size = dim_of(x, 2 + d);
    at = place(b, at, size, b.arg("align_corners").to_bool(), padding);
    Value* low = b.op(mode == 1 ? "round" : "floor", {at});
    axes[static_cast<size_t>(d)] = {size, low, mode == 1 ? nullptr : b.sub(at, low)};
  }
  Value* flat = b.view(x, {dim_of(x, 0), dim_of(x, 1), product(x->type.sizes, 2, 5)});
  Value* sum = nullptr;
  for (int which = 0; which < (mode == 1 ? 1 : 8); ++which) {
    Value* part = corner(b, flat, axes, which);
    sum = sum == nullptr ? part : b.add(sum, part);
  }
  b.result(b.view(sum, b.out_type().sizes));
}

}  // namespace

const Decompositions& grid_rules() {
  static const Decompositions table = {{"grid_sampler_3d", grid_sampler_3d, kWide}};
  return table;
}

}  // namespace taper::exir
