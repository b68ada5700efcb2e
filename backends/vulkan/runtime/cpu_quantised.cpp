// Products and tables with weights of 4 and 8 bits on the processor.

#include <algorithm>
#include <cmath>

#include "backends/vulkan/runtime/cpu_kernels.h"

namespace taper::vulkan {
namespace {

#define TAPER_FITS(condition, text) TAPER_REQUIRE(condition, Error::kInvalidArgument, text)

// A matrix of integers with a scale for each group of a row.
struct Packed {
  const uint8_t* bytes = nullptr;
  const float* scales = nullptr;
  int64_t rows = 0, columns = 0, row_bytes = 0, bits = 8, group = 1;
  int64_t scale_row = 0, scale_group = 0;  // Strides.
  bool high_first = false;                 // Of the two in a byte.

  int integer(int64_t row, int64_t i) const {
    const uint8_t* from = bytes + row * row_bytes;
    if (bits == 8) return static_cast<int8_t>(from[i]);
    const bool is_high = (i % 2 != 0) != high_first;
    return (is_high ? from[i / 2] >> 4 : from[i / 2] & 15) - 8;
  }
  void row(int64_t at, float* out) const {
    for (int64_t i = 0; i < columns; ++i) {
      out[i] =
          static_cast<float>(integer(at, i)) * scales[at * scale_row + i / group * scale_group];
    }
  }
};

Status read_weights(const Tensor& weights, int64_t columns, int64_t bits, Packed& m) {
  TAPER_FITS(weights.dim() == 2 && columns >= 1 && columns <= weights.size(1) * 8 / bits,
             "its weights do not fit its input");
  TAPER_FITS(weights.scalar_type() == (bits == 4 ? ScalarType::kByte : ScalarType::kChar),
             "its weights are not of the dtype that it unpacks");
  m.bytes = static_cast<const uint8_t*>(weights.const_data());
  m.rows = weights.size(0);
  m.row_bytes = weights.size(1);
  m.columns = columns;
  m.bits = bits;
  return {};
}

// `by_column`: [groups, rows], otherwise [rows, groups]; both may be [rows].
Status read_scales(const Tensor& scales, bool by_column, Packed& m) {
  TAPER_FITS(scales.scalar_type() == ScalarType::kFloat && (scales.dim() == 1 || scales.dim() == 2),
             "its scales are no matrix of float32");
  const bool has_groups = scales.dim() == 2;
  const int64_t rows = scales.size(has_groups && by_column ? 1 : 0);
  const int64_t groups = !has_groups ? 1 : scales.size(by_column ? 0 : 1);
  TAPER_FITS(m.group >= 1 && rows >= m.rows && (m.columns - 1) / m.group < groups,
             "its scales do not fit its weights");
  m.scales = scales.const_data_ptr<float>();
  m.scale_row = by_column || !has_groups ? 1 : groups;
  m.scale_group = by_column ? rows : 1;
  return {};
}

int64_t last_size(const Tensor& x) { return x.dim() == 0 ? 0 : x.size(x.dim() - 1); }

// `round` may change an element of x, by its row.
template <typename Round>
Status multiply(const Tensor& x, const Packed& m, const Tensor* bias, Tensor& out,
                const Round& round) {
  const bool are_floats = x.scalar_type() == ScalarType::kFloat &&
                          out.scalar_type() == ScalarType::kFloat &&
                          (bias == nullptr || bias->scalar_type() == ScalarType::kFloat);
  TAPER_REQUIRE(are_floats, Error::kInvalidType, "its tensors are not float32");
  TAPER_FITS(bias == nullptr || bias->numel() >= m.rows, "its bias has another size");
  int32_t sizes[kMaxRank];
  std::copy(x.sizes().begin(), x.sizes().end(), sizes);
  sizes[x.dim() - 1] = static_cast<int32_t>(m.rows);
  TAPER_TRY(out.resize({sizes, static_cast<size_t>(x.dim())}));
  const int64_t count = x.numel() / m.columns;
  const float* from = x.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  for (int64_t n = 0; n < m.rows; ++n) {
    for (int64_t r = 0; r < count; ++r) {
      float sum = 0;
      for (int64_t first = 0; first < m.columns; first += m.group) {
        const int64_t last = std::min(first + m.group, m.columns);
        float part = 0;
        for (int64_t i = first; i < last; ++i) {
          part += static_cast<float>(m.integer(n, i)) * round(from[r * m.columns + i], r);
        }
        sum += part * m.scales[n * m.scale_row + first / m.group * m.scale_group];
      }
      to[r * m.rows + n] = sum + (bias == nullptr ? 0 : bias->const_data_ptr<float>()[n]);
    }
  }
  return {};
}

Status multiply(const Tensor& x, const Packed& m, const Tensor* bias, Tensor& out) {
  return multiply(x, m, bias, out, [](float value, int64_t) { return value; });
}

Status linear_q4gsw(KernelContext&, const Tensor& x, const Tensor& weights, const Tensor& scales,
                    int64_t group, const Tensor* bias, Tensor& out) {
  Packed m;
  m.group = group;
  TAPER_TRY(read_weights(weights, last_size(x), 4, m));
  TAPER_TRY(read_scales(scales, true, m));
  return multiply(x, m, bias, out);
}

Status linear_q8csw(KernelContext&, const Tensor& x, const Tensor& weights, const Tensor& scales,
                    const Tensor* bias, Tensor& out) {
  Packed m;
  TAPER_TRY(read_weights(weights, last_size(x), 8, m));
  m.group = m.columns;
  TAPER_TRY(read_scales(scales, true, m));
  return multiply(x, m, bias, out);
}

Status weight_int8pack_mm(KernelContext& context, const Tensor& x, const Tensor& weights,
                          const Tensor& scales, Tensor& out) {
  return linear_q8csw(context, x, weights, scales, nullptr, out);
}

Status embedding_q4gsw(KernelContext&, const Tensor& weights, const Tensor& scales, int64_t group,
                       const Tensor& indices, bool is_linear_weight, Tensor& out) {
  TAPER_FITS(scales.dim() == 2 && group >= 1 && out.scalar_type() == ScalarType::kFloat &&
                 indices.dim() < static_cast<int64_t>(kMaxRank) && group <= INT32_MAX,
             "its scales are no matrix");
  Packed m;
  m.group = group;
  m.high_first = !is_linear_weight;
  TAPER_TRY(read_weights(weights, scales.size(1) * group, 4, m));
  TAPER_TRY(read_scales(scales, false, m));
  int32_t sizes[kMaxRank];
  std::copy(indices.sizes().begin(), indices.sizes().end(), sizes);
  sizes[indices.dim()] = static_cast<int32_t>(m.columns);
  TAPER_TRY(out.resize({sizes, static_cast<size_t>(indices.dim()) + 1}));
  float* to = out.mutable_data_ptr<float>();
  const bool is_long = indices.scalar_type() == ScalarType::kLong;
  TAPER_FITS(is_long || indices.scalar_type() == ScalarType::kInt,
             "its indices are neither int32 nor int64");
  for (int64_t i = 0; i < indices.numel(); ++i, to += m.columns) {
    const int64_t at =
        is_long ? indices.const_data_ptr<int64_t>()[i] : indices.const_data_ptr<int32_t>()[i];
    TAPER_FITS(at >= 0 && at < m.rows, "an index is out of range");
    m.row(at, to);
  }
  return {};
}

// The even weight is in the high half of a byte.
Status linear_qcs4w(KernelContext&, const Tensor& x, const Tensor& weights, const Tensor& scales,
                    Tensor& out) {
  Packed m;
  m.high_first = true;
  TAPER_TRY(read_weights(weights, last_size(x), 4, m));
  m.group = m.columns;
  TAPER_TRY(read_scales(scales, true, m));
  return multiply(x, m, nullptr, out);
}

// How a row of x is rounded to what 8 bits say.
struct RowSteps {
  const Tensor& scales;
  const Tensor& zeros;

  float zero(int64_t row) const {
    switch (zeros.scalar_type()) {
      case ScalarType::kChar:
        return static_cast<const int8_t*>(zeros.const_data())[row];
      case ScalarType::kInt:
        return static_cast<float>(zeros.const_data_ptr<int32_t>()[row]);
      case ScalarType::kLong:
        return static_cast<float>(zeros.const_data_ptr<int64_t>()[row]);
      default:
        return zeros.const_data_ptr<float>()[row];
    }
  }
  float scale(int64_t row) const {
    return scales.scalar_type() == ScalarType::kDouble
               ? static_cast<float>(scales.const_data_ptr<double>()[row])
               : scales.const_data_ptr<float>()[row];
  }
  float rounded(float x, int64_t row) const {
    const float q = std::nearbyint(x * (1 / scale(row))) + zero(row);
    const float within = q != q ? -128.0F : std::min(std::max(q, -128.0F), 127.0F);
    return (within - zero(row)) * scale(row);
  }
};

Status linear_dq8ca_q4gsw(KernelContext&, const Tensor& x, const Tensor& x_scales,
                          const Tensor& x_zeros, const Tensor& weights, const Tensor&,
                          const Tensor& scales, int64_t group, const Tensor* bias, Tensor& out) {
  Packed m;
  m.group = group;
  TAPER_TRY(read_weights(weights, last_size(x), 4, m));
  TAPER_TRY(read_scales(scales, true, m));
  const int64_t rows = x.numel() / m.columns;
  const ScalarType zeros = x_zeros.scalar_type();
  TAPER_FITS(x_scales.numel() == rows && x_zeros.numel() == rows,
             "it does not have a scale and a zero point for each row");
  TAPER_REQUIRE((x_scales.scalar_type() == ScalarType::kFloat ||
                 x_scales.scalar_type() == ScalarType::kDouble) &&
                    (zeros == ScalarType::kChar || zeros == ScalarType::kInt ||
                     zeros == ScalarType::kLong || zeros == ScalarType::kFloat),
                Error::kInvalidType,
                "its scales or zero points are of a dtype that it does not take");
  const RowSteps steps = {x_scales, x_zeros};
  return multiply(x, m, bias, out,
                  [&](float value, int64_t row) { return steps.rounded(value, row); });
}

// [out, ...] of bytes and [out] to float32.
Status scale_rows(KernelContext&, const Tensor& bytes, const Tensor& scales, Tensor& out) {
  TAPER_REQUIRE(bytes.scalar_type() == ScalarType::kChar &&
                    scales.scalar_type() == ScalarType::kFloat &&
                    out.scalar_type() == ScalarType::kFloat,
                Error::kInvalidType, "its weights are not int8, or its scales not float32");
  TAPER_FITS(bytes.dim() >= 1 && scales.numel() >= bytes.size(0),
             "its scales do not fit its weights");
  TAPER_TRY(out.resize(bytes.sizes()));
  const int64_t rows = bytes.size(0), width = rows == 0 ? 0 : bytes.numel() / rows;
  const auto* from = static_cast<const int8_t*>(bytes.const_data());
  float* to = out.mutable_data_ptr<float>();
  for (int64_t row = 0; row < rows; ++row) {
    const float scale = scales.const_data_ptr<float>()[row];
    for (int64_t i = 0; i < width; ++i) *to++ = static_cast<float>(*from++) * scale;
  }
  return {};
}

constexpr Kernel kEmbedding4 = make_kernel<embedding_q4gsw>("vulkan::embedding_q4gsw");
constexpr Kernel kLinear4 = make_kernel<linear_q4gsw>("vulkan::linear_q4gsw");
constexpr Kernel kLinear8 = make_kernel<linear_q8csw>("vulkan::linear_q8csw");
constexpr Kernel kMm8 = make_kernel<weight_int8pack_mm>("vulkan::weight_int8pack_mm");

constexpr Kernel kScaleRows = make_kernel<scale_rows>("vulkan::scale_rows");

constexpr Kernel kLinear4ByRow = make_kernel<linear_qcs4w>("vulkan::linear_qcs4w");
constexpr Kernel kRoundedLinear4 = make_kernel<linear_dq8ca_q4gsw>("vulkan::linear_dq8ca_q4gsw");

constexpr const Kernel* kTable[] = {&kEmbedding4,   &kRoundedLinear4, &kLinear4, &kLinear8,
                                    &kLinear4ByRow, &kScaleRows,      &kMm8};

}  // namespace

KernelTable cpu_quantised_kernels() { return kTable; }

}  // namespace taper::vulkan
