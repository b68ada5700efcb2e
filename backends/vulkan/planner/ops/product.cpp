// Which shader computes a product, in which tiles and by how many workgroups.

#include "backends/vulkan/planner/ops/product.h"

#include <algorithm>

#include "backends/vulkan/planner/ops/packed.h"
#include "backends/vulkan/planner/ops/tiling.h"

namespace taper::vulkan {
namespace {

constexpr int64_t kFewRows = 4;  // Then gemv.comp is taken.

uint32_t u32(int64_t value) { return static_cast<uint32_t>(value); }

uint32_t ten_bits_each(const int64_t (&values)[3]) {
  return u32(values[0] | values[1] << 10 | values[2] << 20);
}

bool fits_ten_bits(const int64_t (&values)[3]) {
  return std::all_of(values, values + 3, [](int64_t v) { return v >= 0 && v < 1024; });
}

uint32_t bias_kind(const Product& p) { return !p.has_bias ? 0 : p.bias_is_by_row ? 2 : 1; }

int64_t parts_size(const Product& p, const Tiling& t) { return p.batch * t.parts * p.m * p.n; }

// Whether scale and zero point of the factor that is not bytes are tensors.
bool has_grid_tensors(const Product& p) { return p.grid.form == FactorGrid::Form::kTensors; }

// The sums of all parts, with what comes after them.
void sum_parts(Call& call, const Product& p, const Operand& parts, int64_t count,
               bool are_integers) {
  struct Push {
    uint32_t count, m, n, inner;
    Ending ending;
    float grid_scale;
  };
  const Push push = {u32(p.batch * p.m * p.n), u32(p.m),    u32(p.n), u32(p.inner),
                     Ending(p.epilogue),       p.grid.scale};
  const Operand added = call.added();
  const Operand grid_scale = are_integers ? call.factor_scale() : Operand();
  const bool has_residual = p.epilogue.residual != Residual::kNone;
  call.dispatch(Shader::sum_parts)
      .constant(u32(count))
      .constant(bias_kind(p))
      .constant(ending_kind(p.epilogue))
      .constant(static_cast<uint32_t>(p.epilogue.residual))
      .constant(!are_integers   ? 0
                : p.a_has_bytes ? 2
                                : 1)
      .constant(has_grid_tensors(p))
      .push(push)
      .writes(p.out)
      .reads(parts)
      .reads_any(p.has_bias, p.bias);
  if (has_residual || are_integers) call.reads_any(has_residual, added);
  if (are_integers) call.reads(p.scales).reads(has_grid_tensors(p) ? grid_scale : p.scales);
  call.groups_for_words(p.out);
}

void multiply_rows(Call& call, const Product& p) {
  struct Push {
    uint32_t n, k, b_n;
    Ending ending;
  };
  const Push push = {u32(p.n), u32(p.k), u32(p.b_n), Ending(p.epilogue)};
  const Operand added = call.added();
  call.dispatch(Shader::gemv)
      .constant(bias_kind(p))
      .constant(ending_kind(p.epilogue))
      .constant(static_cast<uint32_t>(p.epilogue.residual))
      .constant(p.k % 4 == 0)
      .constant(p.b_is_packed)
      .constant(call.in_half())
      .push(push)
      .writes(p.out)
      .reads(p.a)
      .reads(p.b)
      .reads_any(p.has_bias, p.bias);
  if (p.epilogue.residual != Residual::kNone) call.reads(added);
  call.groups_for(p.n, 8, p.m);
}

// How shaders read the matrices; product.glsl has the same numbers.
enum : uint32_t {
  kByColumn,
  kByRow,
  kImage,
  kTransposedImage,
  kWideByColumn,
  kWideByRow,
  kPacked,
  kBytes,
  kWideBytes,
};
constexpr uint32_t kByPixel = 16;  // Added to an image.

bool are_multiples(int64_t of, std::initializer_list<int64_t> values) {
  return std::all_of(values.begin(), values.end(), [of](int64_t v) { return v % of == 0; });
}

uint32_t first_kind(const Product& p) {
  if (p.a_is_packed) return kPacked;
  if (p.a_has_bytes)
    return are_multiples(4, {p.k, p.a_m, p.a_outer, p.a_inner}) ? kWideBytes : kBytes;
  if (p.a_k != 1) return kByColumn;
  return are_multiples(4, {p.k, p.a_m, p.a_outer, p.a_inner}) ? kWideByRow : kByRow;
}

uint32_t second_kind(const Product& p) {
  if (p.b_is_packed) return kPacked;
  if (p.b_has_bytes)
    return are_multiples(4, {p.k, p.b_n, p.b_outer, p.b_inner}) ? kWideBytes : kBytes;
  switch (p.second) {
    case SecondMatrix::kImage:
      return kImage + (p.by_pixel ? kByPixel : 0U);
    case SecondMatrix::kTransposedImage:
      return kTransposedImage + (p.by_pixel ? kByPixel : 0U);
    case SecondMatrix::kByRow:
      return p.b_k == 1 && are_multiples(4, {p.k, p.b_n, p.b_outer, p.b_inner}) ? kWideByRow
                                                                                : kByRow;
    case SecondMatrix::kByColumn:
      return p.b_n == 1 && are_multiples(4, {p.n, p.b_k, p.b_outer, p.b_inner}) ? kWideByColumn
                                                                                : kByColumn;
  }
  return kByColumn;
}

struct TilePush {
  uint32_t m, n, k, a_m, a_k, b_k, b_n, inner, a_outer, a_inner, b_outer, b_inner;
  Ending ending;
  int32_t in[3], out[2];
  uint32_t strides, pads, dilations, part;
  float grid_inverse, grid_scale;
  int32_t grid_zero;
};

TilePush push_of(const Product& p, int64_t part) {
  const Windows& w = p.windows;
  const auto i32 = [](int64_t value) { return static_cast<int32_t>(value); };
  return {u32(p.m),
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
          Ending(p.epilogue),
          {i32(w.in[0]), i32(w.in[1]), i32(w.in[2])},
          {i32(w.out[1]), i32(w.out[2])},
          ten_bits_each(w.stride),
          ten_bits_each(w.pad),
          ten_bits_each(w.dilation),
          u32(part),
          p.grid.inverse,
          p.grid.scale,
          p.grid.zero};
}

// Scale and zero point, if they are tensors.
void read_grid(Call& call, const Product& p) {
  const bool are_tensors = has_grid_tensors(p);
  const Operand scale = call.factor_scale(), zero = call.factor_zero();
  call.reads(are_tensors ? scale : p.scales).reads(are_tensors ? zero : p.scales);
}

// Dispatches gemm.comp, gemm_bytes.comp, matrix_units.comp or byte_units.comp, whose first
// constants are those of product.glsl; then come `more`.
void multiply_tiles(Call& call, const Product& p, const Tiling& t, Shader shader, int64_t threads,
                    std::initializer_list<uint32_t> more) {
  const Windows& w = p.windows;
  const int64_t part = ceil_div(ceil_div(p.k, t.parts), t.depth) * t.depth;
  const bool is_whole = t.parts == 1;
  const Operand parts = call.temporary(is_whole ? 0 : parts_size(p, t));
  const Operand out = is_whole ? p.out : parts;
  const Operand added = is_whole ? call.added() : Operand();
  call.dispatch(shader)
      .constant(u32(t.m))
      .constant(u32(t.n))
      .constant(first_kind(p))
      .constant(second_kind(p))
      .constant(is_whole ? bias_kind(p) : 0)
      .constant(is_whole ? ending_kind(p.epilogue) : 0)
      .constant(is_whole ? static_cast<uint32_t>(p.epilogue.residual) : 0)
      .constant(u32(w.window[1]))
      .constant(u32(w.window[2]))
      .constant(u32(w.window[0] * w.window[1] * w.window[2]))
      .constant(u32(threads))
      .constant(u32(t.parts));
  for (const uint32_t each : more) call.constant(each);
  call.push(push_of(p, part)).writes(out).reads(p.a).reads(p.b).reads_any(p.has_bias, p.bias);
  const bool has_residual = is_whole && p.epilogue.residual != Residual::kNone;
  const bool has_bytes = p.a_has_bytes || p.b_has_bytes;
  const bool are_integers = shader == Shader::gemm_bytes || shader == Shader::byte_units;
  if (has_residual || has_bytes) call.reads_any(has_residual, added);
  if (has_bytes) call.reads(p.scales);
  if (are_integers) read_grid(call, p);
  call.groups(ceil_div(p.n, t.n), ceil_div(p.m, t.m), p.batch * t.parts);
  if (!is_whole) sum_parts(call, p, out, t.parts, are_integers);
}

// Constants become float16 once, before products read them.
void pack_constants(Call& call, Product& p) {
  const int64_t k = p.k, padded = packed_length(k);
  const auto is_multiple = [](int64_t value, int64_t of) { return value % of == 0; };
  if (!call.ok() || k == 0 || p.m == 0 || p.n == 0) return;
  if (call.is_constant(p.a) && p.a_k == 1 && p.a_m == k && is_multiple(p.a_outer, k) &&
      is_multiple(p.a_inner, k)) {
    p.a = packed(call, p.a, {p.a.dims.numel() / k, k, 1, k, 0, 1});
    p.a_is_packed = true;
    p.a_m = padded;
    p.a_outer = p.a_outer / k * padded;
    p.a_inner = p.a_inner / k * padded;
  }
  const bool is_by_row = p.second == SecondMatrix::kByRow && p.b_k == 1 && p.b_n == k;
  const bool is_by_column = p.second == SecondMatrix::kByColumn && p.b_k == p.n && p.b_n == 1;
  if (call.is_constant(p.b) && (is_by_row || is_by_column) && is_multiple(p.b_outer, k * p.n) &&
      is_multiple(p.b_inner, k * p.n)) {
    const int64_t rows = p.b.dims.numel() / k;
    p.b = packed(call, p.b,
                 is_by_row ? Packing{rows, k, 1, k, 0, 1} : Packing{rows, k, p.n, k * p.n, 1, p.n});
    p.b_is_packed = true;
    p.second = SecondMatrix::kByRow;
    p.b_k = 1;
    p.b_n = padded;
    p.b_outer = p.b_outer / k * padded;
    p.b_inner = p.b_inner / k * padded;
  }
}

// A factor that lies in memory as float16, in rows of whole groups of eight, is as good as packed.
void take_halves(const Call& call, Product& p) {
  p.a_is_packed |=
      call.is_half(p.a) && p.a_k == 1 && are_multiples(8, {p.k, p.a_m, p.a_outer, p.a_inner});
  p.b_is_packed |= call.is_half(p.b) && p.second == SecondMatrix::kByRow && p.b_k == 1 &&
                   are_multiples(8, {p.k, p.b_n, p.b_outer, p.b_inner});
}

// The first factor becomes float16 before a large product, whose workgroups read it many times, and
// is read so by others, too.
void halve_first(Call& call, Product& p) {
  constexpr int64_t kLarge = int64_t{1} << 30;
  const bool is_dense = !p.a_is_packed && !call.is_half(p.a) && p.batch == 1 && p.a_k == 1 &&
                        p.a_m == p.k && p.k % 8 == 0 && p.a.dims.numel() == p.m * p.k;
  if (!is_dense || (p.m * p.k < kLarge / std::max<int64_t>(p.n, 1) && !call.has_halves(p.a))) {
    return;
  }
  Operand halves;
  bool is_new = false;
  if (!call.halves(p.a, halves, is_new)) return;
  if (is_new) {
    const uint32_t count = u32(p.m * p.k / 8);
    call.dispatch(Shader::as_halves).push(count).writes(halves).reads(p.a).groups_for(count, 256);
  }
  p.a = halves;
  p.a_is_packed = true;
}

void multiply_by_units(Call& call, Product p) {
  take_halves(call, p);
  halve_first(call, p);
  const Tiling t = tiling_for_matrix_units(call, p);
  const int64_t subgroups = t.m * t.n / (256 * t.down * t.across);
  multiply_tiles(call, p, t, Shader::matrix_units, subgroups * call.limits().subgroup,
                 {u32(t.depth), u32(t.down), u32(t.across), u32(subgroups)});
}

// Whether integers can be multiplied: the sums must not overflow.
bool is_of_bytes(const Call& call, const Product& p) {
  constexpr int64_t kMostBytes = 1 << 16;  // 2^16 * 255 * 128 < 2^31
  return call.limits().byte_products && p.a_has_bytes != p.b_has_bytes && p.k <= kMostBytes &&
         p.grid.form != FactorGrid::Form::kNone;
}

void multiply_bytes(Call& call, const Product& p) {
  const Tiling t = tiling_for_bytes(call, p);
  multiply_tiles(call, p, t, Shader::gemm_bytes, t.m * t.n / 16,
                 {has_grid_tensors(p), u32(t.depth / 4)});
}

// The same by matrix units.
void multiply_bytes_by_units(Call& call, const Product& p) {
  const uint32_t(&fragment)[3] = call.limits().byte_fragment;
  const Tiling t = tiling_for_byte_units(call, p);
  multiply_tiles(
      call, p, t, Shader::byte_units, byte_unit_threads(call.limits(), t),
      {has_grid_tensors(p), u32(t.depth / 4), fragment[0] | fragment[1] << 8 | fragment[2] << 16});
}

}  // namespace

void multiply(Call& call, const Product& given) {
  const Windows& w = given.windows;
  call.require(fits_ten_bits(w.stride) && fits_ten_bits(w.pad) && fits_ten_bits(w.dilation) &&
                   fits_ten_bits(w.window),
               "its windows, strides or dilations are too large");
  if (!call.ok()) return;
  Product p = given;
  const bool in_half = call.in_half() && !p.a_has_bytes && !p.b_has_bytes;
  if (in_half) call.note_rounding();
  if (in_half) pack_constants(call, p);
  const bool is_rows = p.m <= kFewRows && p.batch == 1 && p.a_k == 1 && p.a_m == p.k &&
                       p.b_k == 1 && (p.b_n == p.k || p.b_is_packed) &&
                       p.second == SecondMatrix::kByRow && !p.bias_is_by_row && p.k > 0 &&
                       !p.a_is_packed && !p.b_has_bytes;
  // Plans for other sizes have the same temporary tensors, so one is asked for in any case.
  if (is_rows) {
    multiply_rows(call, p);
  } else if (in_half && call.limits().matrix_units) {
    multiply_by_units(call, p);
  } else if (is_of_bytes(call, p)) {
    const bool has_units = call.limits().byte_fragment[0] != 0;
    has_units ? multiply_bytes_by_units(call, p) : multiply_bytes(call, p);
  } else {
    const Tiling t = tiling_for_processors(call, p);
    multiply_tiles(call, p, t, Shader::gemm, t.m * t.n / 16, {in_half});
  }
}

}  // namespace taper::vulkan
