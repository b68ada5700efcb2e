// Products and tables whose weights are integers of 4 or 8 bits with scales. They stay packed in
// memory: few rows are multiplied by them as they are, for many rows they become floats first.
// Semantics: (integer * scale) in float32, then as aten::linear and aten::embedding.

#include "backends/vulkan/planner/ops/quantised.h"

#include "backends/vulkan/planner/operators.h"
#include "backends/vulkan/planner/ops/quantise.h"

namespace taper::vulkan {
namespace {

// With so many rows gemv_packed.comp is taken; fuse.cpp has the number, too.
constexpr int64_t kFewRows = 4;
constexpr size_t kNoArgument = SIZE_MAX;
constexpr int64_t kMostFloats = int64_t{1} << 25;  // Weights that become floats at once.

uint32_t u32(int64_t value) { return static_cast<uint32_t>(value); }

// Whether words can be read at a time.
bool has_words(const PackedMatrix& m) {
  const int64_t per_word = 32 / m.bits;
  return m.row_bytes % 4 == 0 && m.k % per_word == 0 && m.group % per_word == 0;
}

// How dequantise.comp writes what it makes; the shader has the numbers.
enum class FloatForm : uint32_t { kOne, kEight, kEightHalves };

// Whether a thread can make eight elements, which have one scale.
bool has_eights(const PackedMatrix& m) {
  return has_words(m) && m.k % 8 == 0 && (m.group % 8 == 0 || m.group >= m.k);
}

void require_scales(Call& call, const PackedMatrix& m, int64_t rows, int64_t groups) {
  call.require(m.scales.dtype == ScalarType::kFloat, "its scales are not float32");
  call.require(m.group >= 1 && m.group <= INT32_MAX && rows >= m.n &&
                   (groups == 1 ? m.group >= m.k : groups >= (m.k - 1) / m.group + 1),
               "its scales do not fit its weights");
}

// Scales [rows, groups], or [rows].
void read_scales_of_rows(Call& call, size_t scales, PackedMatrix& m) {
  m.scales = call.tensor(scales);
  const Dims& dims = m.scales.dims;
  if (!call.require(dims.rank == 1 || dims.rank == 2, "its scales are no matrix")) return;
  m.scale_row = dims.rank == 2 ? dims[1] : 1;
  m.scale_group = 1;
  require_scales(call, m, dims[0], dims.rank == 2 ? dims[1] : 1);
}

// Writes the rows that `indices` name, one element per thread, or all.
void dequantise(Call& call, const PackedMatrix& m, const Operand& out, const Operand* indices,
                FloatForm form) {
  const int64_t count = form == FloatForm::kOne ? out.dims.numel() : m.n * (m.k / 8);
  const struct {
    uint32_t count, k, row_bytes, group, scale_row, scale_group, rows;
  } push = {u32(count),       u32(m.k),           u32(m.row_bytes), u32(m.group),
            u32(m.scale_row), u32(m.scale_group), u32(m.n)};
  Operand fault;
  fault.id = kFaultValue;
  call.dispatch(Shader::dequantise)
      .constant(u32(m.bits))
      .constant(indices != nullptr)
      .constant(m.high_first)
      .constant(static_cast<uint32_t>(form))
      .push(push)
      .writes(out)
      .reads(m.weights)
      .reads(m.scales)
      .reads(indices != nullptr ? *indices : m.scales);
  if (indices != nullptr) call.writes(fault);
  call.groups_for(count, 256);
}

// How threads share a product of one row. What reading takes is hidden by reading much at once, in
// every thread and by many threads; the numbers fit an H200.
struct RowSharing {
  int64_t lanes, columns, at_once;
};

RowSharing sharing_of(const PackedMatrix& m) {
  const int64_t words = m.k * m.bits / 32;
  if (m.n >= 65536) return {32, 4, 2};
  constexpr int64_t kEnoughGroups = 528, kMostColumns = 4;
  RowSharing by = {32, 1, 4};
  while (by.lanes < 256 && words > by.lanes * 4) by.lanes *= 2;
  const auto groups = [&] { return m.n * by.lanes / (256 * by.columns); };
  while (by.columns < kMostColumns && groups() > kEnoughGroups) by.columns *= 2;
  return by;
}

void multiply_rows(Call& call, const PackedMatrix& m, const Product& p) {
  const struct {
    uint32_t n, row_bytes, scale_row, scale_group;
    Ending ending;
    float eps;
  } push = {u32(m.n),           u32(m.row_bytes),   u32(m.scale_row),
            u32(m.scale_group), Ending(p.epilogue), call.norm().eps};
  const bool has_norm = call.norm().weight >= 0;
  const Operand norm_weight = call.norm_weight();
  const RowSharing by = sharing_of(m);
  const Operand added = call.added();
  call.dispatch(Shader::gemv_packed)
      .constant(u32(m.bits))
      .constant(p.has_bias)
      .constant(ending_kind(p.epilogue))
      .constant(static_cast<uint32_t>(p.epilogue.residual))
      .constant(has_words(m) && m.k % 4 == 0)
      .constant(u32(by.columns))
      .constant(u32(m.k))
      .constant(u32(m.group))
      .constant(u32(by.lanes))
      .constant(u32(by.at_once))
      .constant(has_norm)
      .push(push)
      .writes(p.out)
      .reads(p.a)
      .reads(m.weights)
      .reads(m.scales)
      .reads(p.has_bias ? p.bias
             : has_norm ? norm_weight
                        : m.scales);  // A binding that is not used needs a buffer, too.
  if (p.epilogue.residual != Residual::kNone) call.reads(added);
  call.groups_for((m.n + by.columns - 1) / by.columns, 256 / by.lanes, p.m);
}

Operand rows_of(Call& call, size_t i) {
  const Operand x = call.tensor(i);
  call.require(x.dims.rank >= 1, "a scalar has no rows");
  return x;
}

int64_t last_size(const Operand& x) { return x.dims.rank == 0 ? 0 : x.dims[x.dims.rank - 1]; }

// et_vk.linear_q4gsw(x, weights, scales, int group, bias?): scales [groups, n]
void plan_linear_4(Call& call, int) {
  const Operand x = rows_of(call, 0);
  PackedMatrix m;
  m.group = call.integer(3);
  read_weights(call, 1, last_size(x), 4, m);
  read_scales_of_columns(call, 2, m);
  multiply_packed(call, x, call.factor(), m, 4, call.epilogue());
}

// et_vk.linear_q8csw(x, weights, scales, bias?): scales [n]. _weight_int8pack_mm has no bias.
void plan_linear_8(Call& call, int has_bias) {
  const Operand x = rows_of(call, 0);
  PackedMatrix m;
  read_weights(call, 1, last_size(x), 8, m);
  m.group = m.k;
  call.require(has_bias != 0 || x.dims.rank == 2, "its input is no matrix");
  read_scales_of_columns(call, 2, m);
  call.require(m.scales.dims.rank == 1, "it has scales of groups");
  multiply_packed(call, x, call.factor(), m, has_bias != 0 ? 3 : kNoArgument, call.epilogue());
}

// et_vk.linear_qcs4w(x, weights, scales): scales [n]; the even weight is in the high half.
void plan_linear_4_by_row(Call& call, int) {
  const Operand x = rows_of(call, 0);
  PackedMatrix m;
  m.high_first = true;
  read_weights(call, 1, last_size(x), 4, m);
  m.group = m.k;
  read_scales_of_columns(call, 2, m);
  multiply_packed(call, x, call.factor(), m, kNoArgument, call.epilogue());
}

// et_vk.linear_dq8ca_q4gsw(x, x_scales, x_zeros, weights, sums, scales, int group, bias?): rows of
// x are rounded to what 8 bits say with their scales; sums of weights are not needed.
void plan_rounded_linear_4(Call& call, int) {
  const Operand x = rows_of(call, 0);
  if (!call.ok()) return;
  const int64_t k = last_size(x);
  const Scaling by = read_tensors(call, 1, x.dims.product(0, x.dims.rank - 1), k);
  Operand rounded = call.temporary(x.dims.numel());
  rounded.dims = x.dims;
  quantise(call, x, by, {-128, 127}, ScalarType::kChar, rounded);
  PackedMatrix m;
  m.group = call.integer(6);
  read_weights(call, 3, k, 4, m);
  read_scales_of_columns(call, 5, m);
  multiply_packed(call, rounded, {}, m, 7, call.epilogue());
}

// et_vk.embedding_q4gsw(weights, scales, int group, indices, bool is_linear_weight): scales
// [n, groups]; weights of a product have the even one in the low half.
void plan_embedding_4(Call& call, int) {
  const Operand indices = call.tensor(3);
  call.require(indices.dtype == ScalarType::kInt || indices.dtype == ScalarType::kLong,
               "its indices are neither int32 nor int64");
  call.require(indices.dims.rank < Dims::kMaxRank, "its result has too many dimensions");
  PackedMatrix m;
  m.group = call.integer(2);
  m.high_first = !call.flag(4);
  const Operand scales = call.tensor(1);
  call.require(scales.dims.rank == 2, "its scales are no matrix");
  call.require(m.group >= 1 && m.group <= INT32_MAX, "its groups have no size");
  if (!call.ok()) return;
  read_weights(call, 0, scales.dims[1] * m.group, 4, m);
  read_scales_of_rows(call, 1, m);
  if (!call.ok()) return;
  Dims dims = indices.dims;
  dims.push_back(m.k);
  const Operand out = call.result(dims, ScalarType::kFloat);
  dequantise(call, m, out, &indices, FloatForm::kOne);
}

// taper.look_up(bytes, table, scales): bytes [..., n, count], table [256, each], scales [n] or [1]
void plan_look_up(Call& call, int) {
  constexpr int64_t kBytes = 256;
  const Operand bytes = call.bytes(0), table = call.tensor(1), scales = call.tensor(2);
  const size_t rank = bytes.dims.rank;
  call.require(bytes.dtype == ScalarType::kByte && table.dtype == ScalarType::kFloat &&
                   scales.dtype == ScalarType::kFloat,
               "uint8 becomes float32 by a table and scales of float32");
  call.require(table.dims.rank == 2 && table.dims[0] == kBytes && table.dims[1] >= 1 &&
                   table.dims[1] <= 8 && rank >= 2 && scales.dims.rank == 1 &&
                   (scales.dims[0] == bytes.dims[rank - 2] || scales.dims[0] == 1),
               "a table has 256 rows, and each row of bytes a scale");
  if (!call.ok()) return;
  Dims dims = bytes.dims;
  dims[rank - 1] *= table.dims[1];
  const Operand out = call.result(dims, ScalarType::kFloat);
  if (!call.ok() || out.dims.numel() == 0) return;
  const struct {
    uint32_t count, k, row_bytes, group, scale_row, scale_group, rows;
  } push = {u32(out.dims.numel()), u32(dims[rank - 1]), 0, 0, 0, 0, u32(scales.dims[0])};
  call.dispatch(Shader::dequantise)
      .constant(8)
      .constant(false)
      .constant(false)
      .constant(static_cast<uint32_t>(FloatForm::kOne))
      .constant(u32(table.dims[1]))
      .push(push)
      .writes(out)
      .reads(bytes)
      .reads(scales)
      .reads(table)
      .groups_for(out.dims.numel(), 256);
}

constexpr Operator kOperators[] = {
    {"et_vk.linear_q4gsw.default", "vulkan::linear_q4gsw", 5, plan_linear_4, 0, true},
    {"et_vk.linear_q8csw.default", "vulkan::linear_q8csw", 4, plan_linear_8, 1, true},
    {"aten._weight_int8pack_mm.default", "vulkan::weight_int8pack_mm", 3, plan_linear_8, 0, true},
    {"et_vk.linear_qcs4w.default", "vulkan::linear_qcs4w", 3, plan_linear_4_by_row, 0, true},
    {"et_vk.linear_dq8ca_q4gsw.default", "vulkan::linear_dq8ca_q4gsw", 8, plan_rounded_linear_4, 0,
     true},
    {"et_vk.embedding_q4gsw.default", "vulkan::embedding_q4gsw", 5, plan_embedding_4},
    {"taper.look_up.default", "taper::look_up.out", 3, plan_look_up},
};

}  // namespace

void read_weights(Call& call, size_t weights, int64_t k, int64_t bits, PackedMatrix& m) {
  m.weights = call.bytes(weights);
  m.bits = bits;
  m.k = k;
  const ScalarType expected = bits == 4 ? ScalarType::kByte : ScalarType::kChar;
  call.require(m.weights.dtype == expected, "its weights are not of the dtype that it unpacks");
  if (!call.require(m.weights.dims.rank == 2, "its weights are no matrix")) return;
  m.n = m.weights.dims[0];
  m.row_bytes = m.weights.dims[1];
  call.require(k >= 1 && m.row_bytes <= INT32_MAX && k <= m.row_bytes * 8 / bits,
               "its weights do not fit its input");
}

void read_scales_of_columns(Call& call, size_t scales, PackedMatrix& m) {
  m.scales = call.tensor(scales);
  const Dims& dims = m.scales.dims;
  if (!call.require(dims.rank == 1 || dims.rank == 2, "its scales are no matrix")) return;
  m.scale_row = 1;
  m.scale_group = dims[dims.rank - 1];
  require_scales(call, m, dims[dims.rank - 1], dims.rank == 2 ? dims[0] : 1);
}

void multiply_packed(Call& call, const Operand& x, const FactorGrid& grid, const PackedMatrix& m,
                     size_t bias, const Epilogue& epilogue) {
  Product p;
  p.has_bias = bias != kNoArgument && !call.is_none(bias);
  if (p.has_bias) p.bias = call.tensor(bias);
  call.require(x.dtype == ScalarType::kFloat, "it multiplies a dtype other than float32");
  call.require(!p.has_bias || (p.bias.dims.rank <= 1 && p.bias.dims.numel() >= m.n &&
                               p.bias.dtype == ScalarType::kFloat),
               "its bias does not have an element for each column");
  if (!call.ok()) return;
  Dims dims = x.dims;
  dims[dims.rank - 1] = m.n;
  p.m = x.dims.product(0, x.dims.rank - 1);
  p.n = m.n;
  p.k = m.k;
  p.a = x;
  p.a_m = p.k;
  p.a_k = 1;
  p.b_k = 1;
  p.b_n = p.k;
  p.second = SecondMatrix::kByRow;
  p.epilogue = epilogue;
  p.out = call.half_result(dims, p.epilogue.dtype());
  const Dims matrix = {2, {m.n, m.k}};
  const bool has_tiles = p.m > kFewRows, as_bytes = has_tiles && m.bits == 8 && !call.in_half();
  const bool as_floats = m.high_first || (has_tiles && !as_bytes && matrix.numel() <= kMostFloats);
  const bool may_norm = p.k % 4 == 0 && !has_tiles && !as_floats && !p.has_bias;
  call.require(call.norm().weight < 0 || may_norm, "it does not normalise its input");
  const bool in_half = call.in_half() && has_eights(m);  // Then two of them take a word.
  Operand floats = call.temporary(!as_floats ? 0 : in_half ? matrix.numel() / 2 : matrix.numel());
  if (!call.ok() || p.out.dims.numel() == 0) return;
  if (as_bytes) {
    p.b = m.weights;
    p.b_n = m.row_bytes;
    p.b_has_bytes = true;
    p.scales = m.scales;
    p.grid = grid;
    return multiply(call, p);
  }
  if (!as_floats) return multiply_rows(call, m, p);
  floats.dims = matrix;
  const FloatForm whole = in_half ? FloatForm::kEightHalves : FloatForm::kEight;
  dequantise(call, m, floats, nullptr, has_eights(m) ? whole : FloatForm::kOne);
  p.b = floats;
  p.b_is_packed = in_half;
  multiply(call, p);
}

const Span<const Operator> kQuantisedOperators = kOperators;

}  // namespace taper::vulkan
