// Which shader computes a product, in which tiles and by how many workgroups.

#include "backends/vulkan/planner/ops/product.h"

#include <algorithm>

namespace taper::vulkan {
namespace {

constexpr int64_t kDepth = 16;   // Of a tile of gemm.comp.
constexpr int64_t kFewRows = 4;  // Then gemv.comp is taken.

constexpr int64_t kMostShared = int64_t{1} << 23;  // Elements of the sums of all parts.

struct Tiling {
  int64_t m, n;
  int64_t parts = 1;  // Workgroups that share a tile.
};

uint32_t u32(int64_t value) { return static_cast<uint32_t>(value); }

uint32_t ten_bits_each(const int64_t (&values)[3]) {
  return u32(values[0] | values[1] << 10 | values[2] << 20);
}

bool fits_ten_bits(const int64_t (&values)[3]) {
  return std::all_of(values, values + 3, [](int64_t v) { return v >= 0 && v < 1024; });
}

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

uint32_t bias_kind(const Product& p) { return !p.has_bias ? 0 : p.bias_is_by_row ? 2 : 1; }

// Estimates the time of a product. A step of a workgroup takes as long as its arithmetic and its
// loads, of all workgroups that run on a processor, but no less than a load takes. The numbers fit
// what an H200 with its 132 processors was measured to take for the products of seven networks.
int64_t cost_of(const Product& p, const Tiling& t) {
  constexpr int64_t kProcessors = 132, kLoad = 64, kDispatch = 400, kPart = 32;
  const int64_t groups = ceil_div(p.m, t.m) * ceil_div(p.n, t.n) * p.batch * t.parts;
  const int64_t steps = ceil_div(ceil_div(p.k, t.parts), kDepth);
  const int64_t work = t.m * t.n / 64 + (t.m + t.n) / 4;
  const int64_t step = std::max(kLoad, ceil_div(groups, kProcessors) * work);
  return steps * step + (t.parts > 1 ? kDispatch + t.parts * kPart : 0);
}

Tiling choose_tiling(const Product& p) {
  Tiling best = {64, 64, 1};
  int64_t least = INT64_MAX;
  constexpr int64_t kTiles[][2] = {{64, 64}, {64, 32}, {32, 64}, {32, 32}};
  for (const auto& tile : kTiles) {
    for (int64_t parts = 1; parts <= 32 && p.k / parts >= 2 * kDepth; parts *= 2) {
      const Tiling tiling = {tile[0], tile[1], parts};
      if (parts > 1 && p.batch * parts * p.m * p.n > kMostShared) break;
      const int64_t cost = cost_of(p, tiling);
      if (cost >= least) continue;
      least = cost;
      best = tiling;
    }
  }
  return best;
}

int64_t parts_size(const Product& p, const Tiling& t) { return p.batch * t.parts * p.m * p.n; }

// The sums of all parts, with what comes after them.
void sum_parts(Call& call, const Product& p, const Operand& parts, int64_t count) {
  struct Push {
    uint32_t count, m, n, inner;
    float least, most;
  };
  const Push push = {u32(p.batch * p.m * p.n), u32(p.m),       u32(p.n), u32(p.inner),
                     p.epilogue.least,         p.epilogue.most};
  const Operand added = call.added();
  call.dispatch(Shader::sum_parts)
      .constant(u32(count))
      .constant(bias_kind(p))
      .constant(static_cast<uint32_t>(p.epilogue.activation))
      .constant(static_cast<uint32_t>(p.epilogue.residual))
      .push(push)
      .writes(p.out)
      .reads(parts)
      .reads(p.has_bias ? p.bias : parts);
  if (p.epilogue.residual != Residual::kNone) call.reads(added);
  call.groups_for(p.batch * p.m * p.n, 256);
}

void multiply_rows(Call& call, const Product& p) {
  struct Push {
    uint32_t n, k;
    float least, most;
  };
  const Push push = {u32(p.n), u32(p.k), p.epilogue.least, p.epilogue.most};
  const Operand added = call.added();
  call.dispatch(Shader::gemv)
      .constant(bias_kind(p))
      .constant(static_cast<uint32_t>(p.epilogue.activation))
      .constant(static_cast<uint32_t>(p.epilogue.residual))
      .constant(p.k % 4 == 0)
      .push(push)
      .writes(p.out)
      .reads(p.a)
      .reads(p.b)
      .reads(p.has_bias ? p.bias : p.a);
  if (p.epilogue.residual != Residual::kNone) call.reads(added);
  call.groups_for(p.n, 8, p.m);
}

// How gemm.comp reads the matrices; it has the same numbers.
enum : uint32_t { kByColumn, kByRow, kImage, kTransposedImage, kWideByColumn, kWideByRow };

bool are_quads(std::initializer_list<int64_t> values) {
  return std::all_of(values.begin(), values.end(), [](int64_t v) { return v % 4 == 0; });
}

uint32_t first_kind(const Product& p) {
  if (p.a_k != 1) return kByColumn;
  return are_quads({p.k, p.a_m, p.a_outer, p.a_inner}) ? kWideByRow : kByRow;
}

uint32_t second_kind(const Product& p) {
  switch (p.second) {
    case SecondMatrix::kImage:
      return kImage;
    case SecondMatrix::kTransposedImage:
      return kTransposedImage;
    case SecondMatrix::kByRow:
      return p.b_k == 1 && are_quads({p.k, p.b_n, p.b_outer, p.b_inner}) ? kWideByRow : kByRow;
    case SecondMatrix::kByColumn:
      return p.b_n == 1 && are_quads({p.n, p.b_k, p.b_outer, p.b_inner}) ? kWideByColumn
                                                                         : kByColumn;
  }
  return kByColumn;
}

void multiply_tiles(Call& call, const Product& p, const Tiling& tiling) {
  struct Push {
    uint32_t m, n, k, a_m, a_k, b_k, b_n, inner, a_outer, a_inner, b_outer, b_inner;
    float least, most;
    int32_t in[3], out[2];
    uint32_t strides, pads, dilations, part;
  };
  const Windows& w = p.windows;
  const auto i32 = [](int64_t value) { return static_cast<int32_t>(value); };
  const int64_t part = ceil_div(ceil_div(p.k, tiling.parts), kDepth) * kDepth;
  const Push push = {u32(p.m),
                     u32(p.n),
                     u32(p.k),
                     u32(p.a_m),
                     u32(p.a_k),
                     u32(p.b_k),
                     u32(p.b_n),
                     u32(p.inner),
                     u32(p.a_outer),
                     u32(p.a_inner),
                     u32(p.b_outer),
                     u32(p.b_inner),
                     p.epilogue.least,
                     p.epilogue.most,
                     {i32(w.in[0]), i32(w.in[1]), i32(w.in[2])},
                     {i32(w.out[1]), i32(w.out[2])},
                     ten_bits_each(w.stride),
                     ten_bits_each(w.pad),
                     ten_bits_each(w.dilation),
                     u32(part)};
  const bool is_whole = tiling.parts == 1;
  const Operand parts = call.temporary(is_whole ? 0 : parts_size(p, tiling));
  const Operand out = is_whole ? p.out : parts;
  const Operand added = is_whole ? call.added() : Operand();
  call.dispatch(Shader::gemm)
      .constant(u32(tiling.m))
      .constant(u32(tiling.n))
      .constant(first_kind(p))
      .constant(second_kind(p))
      .constant(is_whole ? bias_kind(p) : 0)
      .constant(is_whole ? static_cast<uint32_t>(p.epilogue.activation) : 0)
      .constant(is_whole ? static_cast<uint32_t>(p.epilogue.residual) : 0)
      .constant(u32(w.window[1]))
      .constant(u32(w.window[2]))
      .constant(u32(w.window[0] * w.window[1] * w.window[2]))
      .constant(u32(tiling.m * tiling.n / 16))
      .constant(u32(tiling.parts))
      .push(push)
      .writes(out)
      .reads(p.a)
      .reads(p.b)
      .reads(p.has_bias ? p.bias : p.a);  // A binding that is not used needs a buffer, too.
  if (is_whole && p.epilogue.residual != Residual::kNone) call.reads(added);
  call.groups(ceil_div(p.n, tiling.n), ceil_div(p.m, tiling.m), p.batch * tiling.parts);
  if (!is_whole) sum_parts(call, p, out, tiling.parts);
}

}  // namespace

void multiply(Call& call, const Product& p) {
  const Windows& w = p.windows;
  call.require(fits_ten_bits(w.stride) && fits_ten_bits(w.pad) && fits_ten_bits(w.dilation) &&
                   fits_ten_bits(w.window),
               "its windows, strides or dilations are too large");
  if (!call.ok()) return;
  const bool is_rows = p.m <= kFewRows && p.batch == 1 && p.a_k == 1 && p.a_m == p.k &&
                       p.b_k == 1 && p.b_n == p.k && p.second == SecondMatrix::kByRow &&
                       !p.bias_is_by_row && p.k > 0;
  if (is_rows) {
    multiply_rows(call, p);
  } else {
    Tiling tiling = choose_tiling(p);
    if (!call.has_room(parts_size(p, tiling))) tiling.parts = 1;
    multiply_tiles(call, p, tiling);
  }
}

}  // namespace taper::vulkan
