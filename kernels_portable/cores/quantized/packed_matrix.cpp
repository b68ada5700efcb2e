// Reads elements of 2, 4 and 8 bits; see packed_matrix.h.

#include "kernels_portable/cores/quantized/packed_matrix.h"

#include <algorithm>

#include "kernels_portable/cores/quantized/row_sizes.h"
#include "kernels_portable/engine/compute.h"
#include "kernels_portable/engine/convert.h"
#include "kernels_portable/engine/view.h"

namespace taper::portable {
namespace {

float number_at(const Tensor& tensor, int64_t index) {
  return load_one<float>(element(tensor.const_data(), index, tensor.scalar_type()),
                         tensor.scalar_type());
}

// Element `at` of a row that begins at `bytes`.
int integer_at(const uint8_t* bytes, int64_t at, int64_t bits, bool is_signed) {
  if (bits == 8) return is_signed ? static_cast<int8_t>(bytes[at]) : bytes[at];
  if (bits == 4) return (bytes[at / 2] >> (at % 2 * 4) & 15) - 8;
  return (bytes[at / 4] >> (at % 4 * 2) & 3) - 2;
}

Status check_matrix(const PackedMatrix& matrix) {
  const Tensor &weight = *matrix.weight, &scales = *matrix.scales;
  const int64_t bits = matrix.bits;
  TAPER_REQUIRE(bits == 2 || bits == 4 || bits == 8, Error::kInvalidArgument,
                "packed_linear: weights have 2, 4 or 8 bits");
  TAPER_REQUIRE(weight.scalar_type() == ScalarType::kByte ||
                    (bits == 8 && weight.scalar_type() == ScalarType::kChar),
                Error::kInvalidType, "packed_linear: weight must be bytes");
  TAPER_REQUIRE(weight.dim() == 2 && scales.dim() == 2 && scales.size(0) == weight.size(0),
                Error::kInvalidArgument, "packed_linear: there must be scales for each row");
  TAPER_REQUIRE(matrix.columns > 0 && matrix.row_bytes() == (matrix.columns * bits + 7) / 8,
                Error::kInvalidArgument, "packed_linear: the rows of weight do not fit the input");
  TAPER_REQUIRE(matrix.groups() > 0 && matrix.columns % matrix.groups() == 0,
                Error::kInvalidArgument, "packed_linear: groups must divide the rows evenly");
  TAPER_REQUIRE(is_floating(scales.scalar_type()), Error::kInvalidType,
                "packed_linear: scales must be floating point");
  const Tensor* zero_points = matrix.zero_points;
  TAPER_REQUIRE(zero_points == nullptr ||
                    (zero_points->numel() == scales.numel() && zero_points->is_contiguous()),
                Error::kInvalidArgument,
                "packed_linear: there must be a zero point for each scale");
  TAPER_REQUIRE(zero_points == nullptr || zero_points->scalar_type() == ScalarType::kFloat ||
                    zero_points->scalar_type() == ScalarType::kChar,
                Error::kInvalidType, "packed_linear: zero points must be int8 or float32");
  TAPER_REQUIRE(weight.is_contiguous() && scales.is_contiguous(), Error::kNotSupported,
                "packed_linear: weights must be contiguous");
  return {};
}

Status check_input_params(const PackedLinear& layer) {
  const Tensor &scales = *layer.input_scales, &zero_points = *layer.input_zero_points;
  TAPER_REQUIRE(
      scales.scalar_type() == ScalarType::kFloat && zero_points.scalar_type() == ScalarType::kChar,
      Error::kInvalidType, "packed_linear: input scales must be float32, their zero points int8");
  TAPER_REQUIRE((scales.numel() == 1 || scales.numel() == layer.rows()) &&
                    zero_points.numel() == scales.numel() && scales.is_contiguous() &&
                    zero_points.is_contiguous(),
                Error::kInvalidArgument, "packed_linear: each row of the input has one scale");
  return {};
}

}  // namespace

float PackedMatrix::scale(int64_t row, int64_t group) const {
  return number_at(*scales, row * groups() + group);
}

float PackedMatrix::zero_point(int64_t row, int64_t group) const {
  return zero_points == nullptr ? 0 : number_at(*zero_points, row * groups() + group);
}

void PackedMatrix::read_scales(int64_t first, int64_t count, float* to) const {
  const int64_t begin = first * groups(), total = count * groups();
  const ScalarType type = scales->scalar_type();
  loader<float>(type)(element(scales->const_data(), begin, type), 1, total, to);
}

void PackedMatrix::read_scales(int64_t first, int64_t count, float* scales_to,
                               float* zeros_to) const {
  read_scales(first, count, scales_to);
  const int64_t begin = first * groups(), total = count * groups();
  std::fill_n(zeros_to, total, static_cast<float>(offset()));
  if (zero_points == nullptr) return;
  for (int64_t i = 0; i < total; ++i) zeros_to[i] += number_at(*zero_points, begin + i);
}

void PackedMatrix::read(int64_t row, int64_t first, int64_t count, float* to,
                        int64_t stride) const {
  const uint8_t* bytes = static_cast<const uint8_t*>(weight->const_data()) + row * row_bytes();
  const bool is_signed = weight->scalar_type() == ScalarType::kChar;
  const int64_t length = group_length();
  for (int64_t at = first; at < first + count;) {
    const int64_t group = at / length;
    const int64_t end = std::min(first + count, (group + 1) * length);
    const float scale = this->scale(row, group), zero = zero_point(row, group);
    for (; at < end; ++at) {
      const auto integer = static_cast<float>(integer_at(bytes, at, bits, is_signed));
      to[(at - first) * stride] = (integer - zero) * scale;
    }
  }
}

float PackedLinear::input_scale(int64_t row) const {
  return input_scales->const_data_ptr<float>()[input_scales->numel() == 1 ? 0 : row];
}

int32_t PackedLinear::input_zero_point(int64_t row) const {
  return input_zero_points->const_data_ptr<int8_t>()[input_zero_points->numel() == 1 ? 0 : row];
}

void PackedLinear::read_input(int64_t row, int64_t first, int64_t count, float* to) const {
  const int64_t at = row * matrix.columns + first;
  if (input_scales == nullptr) {
    std::copy_n(input.const_data_ptr<float>() + at, count, to);
    return;
  }
  const int8_t* from = input.const_data_ptr<int8_t>() + at;
  const float scale = input_scale(row);
  const int32_t zero_point = input_zero_point(row);
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(from[i] - zero_point) * scale;
}

Status prepare_packed_linear(PackedLinear& layer) {
  const Tensor& input = layer.input;
  PackedMatrix& matrix = layer.matrix;
  TAPER_REQUIRE(input.dim() >= 1 && matrix.weight->dim() == 2, Error::kInvalidArgument,
                "packed_linear: input and weight do not fit");
  matrix.rows = matrix.weight->size(0);
  matrix.columns = input.size(input.dim() - 1);
  TAPER_TRY(check_matrix(matrix));
  const bool is_bytes = layer.input_scales != nullptr;
  TAPER_REQUIRE(input.scalar_type() == (is_bytes ? ScalarType::kChar : ScalarType::kFloat) &&
                    layer.out.scalar_type() == ScalarType::kFloat,
                Error::kInvalidType, "packed_linear: input or out has a wrong dtype");
  if (is_bytes) TAPER_TRY(check_input_params(layer));
  const Tensor* bias = layer.bias;
  TAPER_REQUIRE(bias == nullptr || (bias->scalar_type() == ScalarType::kFloat &&
                                    bias->numel() == matrix.rows && bias->is_contiguous()),
                Error::kInvalidArgument, "packed_linear: bias needs a float32 for each column");
  TAPER_REQUIRE(input.is_contiguous() && layer.out.is_contiguous(), Error::kNotSupported,
                "packed_linear: input and out must be contiguous");
  return resize_rows(layer.out, input, static_cast<size_t>(input.dim()) - 1, matrix.rows);
}

}  // namespace taper::portable
