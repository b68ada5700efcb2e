// Numbers as integers with a scale and a zero point, and back; and which scale and zero point
// numbers need. Semantics: torch/ao/quantization/fx/_decomposed.py.
//
// Scales that are float64 are float32 here: choose_qparams computes them in float32, and other ones
// are refused when they come from outside (runtime/element_words.h).

#include "backends/vulkan/planner/ops/quantise.h"

#include "backends/vulkan/planner/operators.h"
#include "backends/vulkan/planner/ops/reduction.h"
#include "backends/vulkan/planner/ops/strided.h"

namespace taper::vulkan {
namespace {

constexpr int64_t kMostZero = 1 << 21;  // Floats tell integers apart up to 2^24.

enum Zeros : uint32_t { kPushed, kNoZeros, kIntegers, kFloats };

uint32_t u32(int64_t value) { return static_cast<uint32_t>(value); }

Bounds bounds_of(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::kByte:
      return {0, UINT8_MAX};
    case ScalarType::kChar:
      return {INT8_MIN, INT8_MAX};
    case ScalarType::kShort:
      return {INT16_MIN, INT16_MAX};
    default:
      return {0, -1};
  }
}

bool fits(Bounds bounds, ScalarType dtype) {
  const Bounds widest = bounds_of(dtype);
  return bounds.least <= bounds.most && bounds.least >= widest.least && bounds.most <= widest.most;
}

bool is_index(ScalarType dtype) { return dtype == ScalarType::kInt || dtype == ScalarType::kLong; }

Zeros zeros_of(const Scaling& by) {
  if (!by.has_tensors) return kPushed;
  if (!by.has_zeros) return kNoZeros;
  return by.zeros.dtype == ScalarType::kFloat ? kFloats : kIntegers;
}

struct Push {
  uint32_t count, channels, inner;
  float inverse, scale, zero, least, most;
};

// quantise.comp has the same numbers.
enum Way : uint32_t { kToIntegers, kToNumbers, kBoth };

void convert(Call& call, const Operand& x, const Scaling& by, Bounds bounds, uint32_t bytes,
             Way way, const Operand& out) {
  if (!call.ok() || out.dims.numel() == 0) return;
  const uint32_t order = !by.zero_first ? 0 : by.in_double ? 2 : 1;
  const Push push = {u32(out.dims.numel()),
                     u32(by.channels),
                     u32(by.inner),
                     by.inverse,
                     by.scale,
                     static_cast<float>(by.zero),
                     static_cast<float>(bounds.least),
                     static_cast<float>(bounds.most)};
  call.dispatch(Shader::quantise)
      .constant(way)
      .constant(zeros_of(by))
      .constant(order)
      .constant(bytes)
      .push(push)
      .writes(out)
      .reads(x)
      .reads(by.has_tensors ? by.scales : x)
      .reads(by.has_zeros ? by.zeros : x)
      .groups_for(out.dims.numel(), 256);
}

bool is_float(ScalarType dtype) {
  return dtype == ScalarType::kFloat || dtype == ScalarType::kDouble;
}

// What operators are given for; the number of one is its variant.
enum Form : int { kTensor, kTensorOfTensors, kChannel, kToken };

// The arguments behind the first one.
Scaling read_scaling(Call& call, const Operand& x, int form) {
  const size_t rank = x.dims.rank;
  if (form == kTensor) return scaling_of(call, call.number(1), call.integer(2));
  if (form == kTensorOfTensors) return read_tensors(call, 1, 1, 1);
  if (!call.require(rank > 0, "a scalar has no channels") || !call.ok()) return {};
  const size_t d = form == kChannel ? call.dim(3, rank) : rank - 1;
  if (form == kChannel) return read_tensors(call, 1, x.dims[d], x.dims.product(d + 1, rank));
  Scaling by = read_tensors(call, 1, x.dims.product(0, d), x.dims[d]);
  by.zero_first = true;
  return by;
}

// Where quant_min stands.
size_t bounds_at(int form) { return form == kChannel ? 4 : 3; }

// The dtype that a call says, or that of a tensor, which it should be.
void check_dtype(Call& call, size_t i, ScalarType dtype) {
  call.require(call.is_none(i) || call.integer(i) == static_cast<int64_t>(dtype),
               "it says another dtype than its integers have");
}

// quantize_per_tensor(x, scale, zero_point, quant_min, quant_max, dtype), also with tensors;
// quantize_per_channel(x, scales, zero_points, axis, ...); quantize_per_token(x, scales, ...)
void plan_quantise(Call& call, int form) {
  const Operand x = call.tensor(0);
  const Scaling by = read_scaling(call, x, form);
  const size_t at = bounds_at(form);
  const Bounds bounds = {call.integer(at), call.integer(at + 1)};
  const Grid& grid = call.epilogue().grid;
  const bool to_numbers = grid.form == Grid::Form::kNumbers;
  const ScalarType dtype = to_numbers ? grid.dtype : call.stated_dtype();
  check_dtype(call, at + 2, dtype);
  const Operand out = call.result(x.dims, to_numbers ? ScalarType::kFloat : dtype);
  quantise(call, x, by, bounds, dtype, out);
}

// Argument 0, as it is stored.
Operand integers_of(Call& call) { return call.may_read_bytes(0) ? call.bytes(0) : call.tensor(0); }

// The same to numbers; out_dtype, if there is one, is the last argument.
void plan_dequantise(Call& call, int form) {
  const Operand x = integers_of(call);
  const Scaling by = read_scaling(call, x, form);
  const size_t at = bounds_at(form) + 2;
  check_dtype(call, at, x.dtype);
  // Those of a tensor are read as a number.
  const bool wraps = form != kTensorOfTensors && zeros_of(by) == kIntegers &&
                     by.zeros.dtype == x.dtype && x.dtype != ScalarType::kInt;
  call.require(!wraps, "differences from zero points of the dtype of the integers wrap around");
  call.require(
      call.is_none(at + 1) || call.integer(at + 1) == static_cast<int64_t>(ScalarType::kFloat),
      "its result is not float32");
  const Operand out = call.result(x.dims, ScalarType::kFloat);
  dequantise(call, x, by, out);
}

// choose_qparams.comp has the same numbers.
enum Choice : uint32_t { kFromLeast, kNearest, kSymmetric };

struct Parameters {
  Choice choice = kFromLeast;
  Bounds bounds;
  double eps = 0;
};

// The results, with sizes `dims`, for rows of x.
void choose(Call& call, const Rows& rows, const Dims& dims, const Parameters& p) {
  const ScalarType scale = call.stated_dtype(0), zero = call.stated_dtype(1);
  call.take_doubles();
  call.require(rows.x.dtype == ScalarType::kFloat, "it computes with a dtype other than float32");
  call.require(
      p.bounds.least < p.bounds.most && p.bounds.least >= -kMostZero && p.bounds.most <= kMostZero,
      "its bounds are out of range");
  call.require(is_float(scale) && (is_index(zero) || zero == ScalarType::kChar),
               "its results are of a dtype that it does not make");
  call.require(rows.n > 0, "it finds the extremes of nothing");
  const Operand scales = call.result(0, dims, scale), zeros = call.result(1, dims, zero);
  const Operand low = call.temporary(rows.count()), high = call.temporary(rows.count());
  if (!call.ok()) return;
  find_extremes(call, false, rows, low);
  find_extremes(call, true, rows, high);
  const struct {
    uint32_t count;
    float least, most, eps;
  } push = {u32(rows.count()), static_cast<float>(p.bounds.least),
            static_cast<float>(p.bounds.most), static_cast<float>(p.eps)};
  call.dispatch(Shader::choose_qparams)
      .constant(p.choice)
      .push(push)
      .writes(scales)
      .writes(zeros)
      .reads(low)
      .reads(high)
      .groups_for(rows.count(), 256);
}

// choose_qparams.tensor(x, quant_min, quant_max, eps, dtype) -> scale [1], zero_point [1]
void plan_choose(Call& call, int) {
  const Operand x = call.tensor(0);
  const Parameters p = {kFromLeast, {call.integer(1), call.integer(2)}, call.number(3)};
  if (call.ok()) choose(call, {x, 1, x.dims.numel(), 1}, {1, {1}}, p);
}

// choose_qparams_per_token_asymmetric(x, dtype) -> scales [..., 1], zero_points
void plan_choose_by_row(Call& call, int) {
  const Operand x = call.tensor(0);
  if (!call.require(x.dims.rank > 0, "a scalar has no rows") || !call.ok()) return;
  Dims dims = x.dims;
  dims[dims.rank - 1] = 1;
  choose(call, rows_along(x, x.dims.rank - 1), dims, {kNearest, {-128, 127}, 0x1p-23});
}

// Block sizes, argument `at`, as rows [outer, n] of x: a block is n elements in a row. False if the
// blocks are not.
bool read_blocks(Call& call, size_t at, const Operand& x, Rows& rows) {
  const Dims blocks = call.integers(at);
  bool fits = blocks.rank == x.dims.rank, is_inside = false;
  int64_t n = 1;
  for (size_t d = 0; d < blocks.rank && fits; ++d) {
    fits = blocks[d] >= 1 && blocks[d] <= x.dims[d] && x.dims[d] % blocks[d] == 0 &&
           (!is_inside || blocks[d] == x.dims[d]);
    is_inside = is_inside || blocks[d] != 1;
    if (fits) n *= blocks[d];
  }
  rows = {x, x.dims.numel() / n, n, 1};
  return call.require(fits && n <= INT32_MAX, "its blocks are not elements in a row") &&
         call.require(rows.outer > 0, "it has no blocks");
}

Bounds read_bounds(Call& call, size_t least, ScalarType dtype) {
  const Bounds widest = bounds_of(dtype);
  return {call.integer(least, widest.least), call.integer(least + 1, widest.most)};
}

// torchao.choose_qparams_affine(x, mapping, block_size, target_dtype, quant_min?, quant_max?, eps?,
// scale_dtype?, zero_point_dtype?, keepdim) -> scales, zero_points
void plan_choose_by_block(Call& call, int) {
  const Operand x = call.tensor(0);
  const std::string_view mapping = call.text(1);
  const bool is_symmetric = mapping == "SYMMETRIC";
  call.require(is_symmetric || mapping == "ASYMMETRIC", "it maps numbers in another way");
  const bool keepdim = call.flag(9);
  Rows rows;
  if (!read_blocks(call, 2, x, rows)) return;
  // A dimension in whole blocks is reduced; one in several blocks has one place for each of them.
  const Dims blocks = call.integers(2);
  Dims dims;
  for (size_t d = 0; d < blocks.rank; ++d) {
    if (!call.require(dims.rank + 2 <= Dims::kMaxRank, "its blocks have too many dims")) return;
    if (blocks[d] == 1 || blocks[d] != x.dims[d]) dims.push_back(x.dims[d] / blocks[d]);
    if (blocks[d] != 1 && keepdim) dims.push_back(1);
  }
  Parameters p;
  p.choice = is_symmetric ? kSymmetric : kFromLeast;
  p.bounds = read_bounds(call, 4, ScalarType::kChar);
  p.eps = call.number(6, 0x1p-23);
  if (call.ok()) choose(call, rows, dims, p);
}

// torchao.quantize_affine(x, block_size, scales, zero_points?, dtype, quant_min?, quant_max?)
void plan_quantise_blocks(Call& call, int) {
  const Operand x = call.tensor(0);
  Rows rows;
  if (!read_blocks(call, 1, x, rows)) return;
  const Scaling by = read_tensors(call, 2, rows.outer, rows.n);
  const ScalarType dtype = call.stated_dtype();
  check_dtype(call, 4, dtype);
  const Bounds bounds = read_bounds(call, 5, dtype);
  const Operand out = call.result(x.dims, dtype);
  quantise(call, x, by, bounds, dtype, out);
}

// torchao.dequantize_affine(x, block_size, scales, zero_points?, dtype, quant_min?, quant_max?,
// output_dtype)
void plan_dequantise_blocks(Call& call, int) {
  const Operand x = integers_of(call);
  Rows rows;
  if (!read_blocks(call, 1, x, rows)) return;
  const Scaling by = read_tensors(call, 2, rows.outer, rows.n);
  check_dtype(call, 4, x.dtype);
  check_dtype(call, 7, ScalarType::kFloat);
  const Operand out = call.result(x.dims, ScalarType::kFloat);
  dequantise(call, x, by, out);
}

constexpr Operator kOperators[] = {
    {"torchao.choose_qparams_affine.default", "vulkan::choose_qparams_affine", 10,
     plan_choose_by_block},
    {"torchao.quantize_affine.default", "vulkan::quantize_affine", 7, plan_quantise_blocks},
    {"torchao.dequantize_affine.default", "vulkan::dequantize_affine", 8, plan_dequantise_blocks},
    with_dtype({"quantized_decomposed.quantize_per_tensor.default",
                "quantized_decomposed::quantize_per_tensor.out", 6, plan_quantise, kTensor},
               5),
    with_dtype({"quantized_decomposed.quantize_per_tensor.tensor",
                "quantized_decomposed::quantize_per_tensor.Tensor_out", 6, plan_quantise,
                kTensorOfTensors},
               5),
    with_dtype({"quantized_decomposed.quantize_per_channel.default",
                "quantized_decomposed::quantize_per_channel.out", 7, plan_quantise, kChannel},
               6),
    with_dtype({"quantized_decomposed.quantize_per_token.default",
                "quantized_decomposed::quantize_per_token.out", 6, plan_quantise, kToken},
               5),
    with_dtype({"quantized_decomposed.dequantize_per_tensor.default",
                "quantized_decomposed::dequantize_per_tensor.out", 7, plan_dequantise, kTensor},
               5),
    with_dtype({"quantized_decomposed.dequantize_per_tensor.tensor",
                "quantized_decomposed::dequantize_per_tensor.Tensor_out", 7, plan_dequantise,
                kTensorOfTensors},
               5),
    with_dtype({"quantized_decomposed.dequantize_per_channel.default",
                "quantized_decomposed::dequantize_per_channel.out", 8, plan_dequantise, kChannel},
               6),
    with_dtype({"quantized_decomposed.dequantize_per_token.default",
                "quantized_decomposed::dequantize_per_token.out", 7, plan_dequantise, kToken},
               5),
    with_dtype({"quantized_decomposed.choose_qparams.tensor",
                "quantized_decomposed::choose_qparams.Tensor_out", 5, plan_choose},
               4),
    with_dtype(
        {"quantized_decomposed.choose_qparams_per_token_asymmetric.default",
         "quantized_decomposed::choose_qparams_per_token_asymmetric.out", 2, plan_choose_by_row},
        1),
};

}  // namespace

Scaling scaling_of(Call& call, double scale, int64_t zero) {
  call.require(zero >= -kMostZero && zero <= kMostZero, "its zero point is out of range");
  Scaling by;
  by.scale = static_cast<float>(scale);
  by.inverse = static_cast<float>(1.0 / scale);
  by.zero = call.ok() ? static_cast<int32_t>(zero) : 0;
  return by;
}

Scaling read_tensors(Call& call, size_t scales, int64_t channels, int64_t inner) {
  call.take_doubles();
  Scaling by;
  by.has_tensors = true;
  by.has_zeros = !call.is_none(scales + 1);
  by.scales = call.tensor(scales);
  if (by.has_zeros) by.zeros = call.tensor(scales + 1);
  by.channels = channels;
  by.inner = inner;
  by.in_double = by.scales.dtype == ScalarType::kDouble;
  const ScalarType zeros = by.zeros.dtype;
  call.require(is_float(by.scales.dtype) && (!by.has_zeros || zeros == ScalarType::kFloat ||
                                             zeros == ScalarType::kChar || is_index(zeros)),
               "its scales or zero points are of a dtype that it does not take");
  call.require(
      by.scales.dims.numel() == channels && (!by.has_zeros || by.zeros.dims.numel() == channels),
      "it does not have a scale and a zero point for each channel");
  return by;
}

bool make_grid(double scale, int64_t zero, Bounds bounds, ScalarType dtype, Grid& grid) {
  if (zero < -kMostZero || zero > kMostZero || !fits(bounds, dtype)) return false;
  grid.dtype = dtype;
  grid.inverse = static_cast<float>(1.0 / scale);
  grid.scale = static_cast<float>(scale);
  grid.zero = static_cast<float>(zero);
  grid.least = static_cast<float>(bounds.least);
  grid.most = static_cast<float>(bounds.most);
  return true;
}

void quantise(Call& call, const Operand& x, const Scaling& by, Bounds bounds, ScalarType dtype,
              const Operand& out) {
  call.require(x.dtype == ScalarType::kFloat, "it quantises a dtype other than float32");
  call.require(bounds_of(dtype).most > 0, "it quantises to a dtype other than 8 or 16 bits");
  call.require(fits(bounds, dtype), "its bounds do not fit the dtype of its integers");
  convert(call, x, by, bounds, 0, out.dtype == ScalarType::kFloat ? kBoth : kToIntegers, out);
}

void dequantise(Call& call, const Operand& x, const Scaling& by, const Operand& out) {
  call.require(bounds_of(x.dtype).most > 0 || x.dtype == ScalarType::kInt,
               "it dequantises a dtype other than 8, 16 or 32 bits");
  if (!call.ok()) return;
  const uint32_t bytes = !call.has_bytes(x) ? 0 : x.dtype == ScalarType::kChar ? 1 : 2;
  convert(call, x, by, {}, bytes, kToNumbers, out);
}

const Span<const Operator> kQuantiseOperators = kOperators;

}  // namespace taper::vulkan
