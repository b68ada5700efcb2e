// quantized_decomposed::embedding_{byte,4bit,2bit}: rows of a quantized table, dequantized as they
// are looked up.
//
//   weight  [rows, bytes]. A byte holds one value, two 4-bit values (the first in the high bits,
//           each less 8) or four 2-bit values (the first in the low bits, each less 2).
//   scales  [rows] or [rows, groups]: each row is divided into groups of equal length.

#include <algorithm>

#include "kernels_portable/cores/quantized/row_sizes.h"
#include "kernels_portable/engine/compute.h"
#include "kernels_portable/engine/view.h"
#include "taper/kernel.h"

namespace taper::portable {
namespace {

constexpr int64_t kPart = 64;

// A table of quantized rows.
struct Table {
  const Tensor& weight;
  const Tensor& scales;
  const Tensor* zero_points;
  int bits;  // The width of one value: 8, 4 or 2.

  int64_t length() const { return weight.size(1) * (8 / bits); }
  int64_t groups() const { return scales.dim() == 2 ? scales.size(1) : 1; }

  // Unpacks values [first, first + count) of a row, less the offset of their width.
  void unpack(int64_t row, int64_t first, int64_t count, float* to) const {
    const uint8_t* bytes = weight.const_data_ptr<uint8_t>() + row * weight.size(1);
    const bool is_signed = weight.scalar_type() == ScalarType::kChar;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t at = first + i;
      int value = 0;
      if (bits == 8) {
        value = is_signed ? static_cast<int8_t>(bytes[at]) : bytes[at];
      } else if (bits == 4) {
        value = (at % 2 == 0 ? bytes[at / 2] >> 4 : bytes[at / 2] & 15) - 8;
      } else {
        value = (bytes[at / 4] >> (at % 4 * 2) & 3) - 2;
      }
      to[i] = static_cast<float>(value);
    }
  }
  float scale(int64_t row, int64_t group) const {
    return load_one<float>(
        element(scales.const_data(), row * groups() + group, scales.scalar_type()),
        scales.scalar_type());
  }
  float zero_point(int64_t row, int64_t group) const {
    if (zero_points == nullptr) return 0;
    return load_one<float>(
        element(zero_points->const_data(), row * groups() + group, zero_points->scalar_type()),
        zero_points->scalar_type());
  }
};

Status check_table(const Table& table) {
  const Tensor& weight = table.weight;
  const Tensor& scales = table.scales;
  TAPER_REQUIRE(weight.scalar_type() == ScalarType::kByte ||
                    (table.bits == 8 && weight.scalar_type() == ScalarType::kChar),
                Error::kInvalidType, "quantized embedding: weight must be bytes");
  TAPER_REQUIRE(weight.dim() == 2 && (scales.dim() == 1 || scales.dim() == 2) &&
                    scales.size(0) == weight.size(0),
                Error::kInvalidArgument,
                "quantized embedding: scales must have a row for each row of weight");
  TAPER_REQUIRE(table.groups() > 0 && table.length() % table.groups() == 0, Error::kInvalidArgument,
                "quantized embedding: groups must divide the rows evenly");
  TAPER_REQUIRE(is_floating(scales.scalar_type()), Error::kInvalidType,
                "quantized embedding: scales must be floating point");
  TAPER_REQUIRE(table.zero_points == nullptr || table.zero_points->numel() == scales.numel(),
                Error::kInvalidArgument,
                "quantized embedding: there must be a zero point for each scale");
  TAPER_REQUIRE(weight.is_contiguous() && scales.is_contiguous() &&
                    (table.zero_points == nullptr || table.zero_points->is_contiguous()),
                Error::kNotSupported, "quantized embedding: the table must be contiguous");
  return {};
}

void look_up(const Table& table, int64_t row, Tensor& out, int64_t first_out) {
  const int64_t length = table.length() / table.groups();
  const StoreFunction<float> store = storer<float>(out.scalar_type());
  float values[kPart];
  for (int64_t group = 0; group < table.groups(); ++group) {
    const float scale = table.scale(row, group);
    const float zero_point = table.zero_point(row, group);
    for (int64_t i = 0; i < length; i += kPart) {
      const int64_t count = std::min(kPart, length - i);
      const int64_t first = group * length + i;
      table.unpack(row, first, count, values);
      for (int64_t j = 0; j < count; ++j) values[j] = (values[j] - zero_point) * scale;
      store(values, count, element(out.mutable_data(), first_out + first, out.scalar_type()), 1);
    }
  }
}

Status embed(const Table& table, const Tensor& indices, std::optional<int64_t> dtype, Tensor& out) {
  TAPER_TRY(check_table(table));
  TAPER_REQUIRE(
      indices.scalar_type() == ScalarType::kLong || indices.scalar_type() == ScalarType::kInt,
      Error::kInvalidType, "quantized embedding: indices must be int32 or int64");
  TAPER_REQUIRE(is_floating(out.scalar_type()) &&
                    (!dtype.has_value() || *dtype == static_cast<int64_t>(out.scalar_type())),
                Error::kInvalidType, "quantized embedding: out has a wrong dtype");
  TAPER_REQUIRE(indices.is_contiguous() && out.is_contiguous(), Error::kNotSupported,
                "quantized embedding: indices and out must be contiguous");
  TAPER_REQUIRE(indices.dim() < static_cast<int64_t>(kMaxRank), Error::kInvalidArgument,
                "quantized embedding: indices have too many dimensions");
  TAPER_TRY(resize_rows(out, indices, static_cast<size_t>(indices.dim()), table.length()));
  for (int64_t i = 0; i < indices.numel(); ++i) {
    const int64_t row = load_one<int64_t>(element(indices.const_data(), i, indices.scalar_type()),
                                          indices.scalar_type());
    TAPER_REQUIRE(row >= 0 && row < table.weight.size(0), Error::kInvalidArgument,
                  "quantized embedding: index out of range");
    look_up(table, row, out, i * table.length());
  }
  return {};
}

template <int kBits>
Status embedding_out(KernelContext&, const Tensor& weight, const Tensor& weight_scales,
                     const Tensor* weight_zero_points, int64_t, int64_t, const Tensor& indices,
                     Tensor& out) {
  return embed({weight, weight_scales, weight_zero_points, kBits}, indices, std::nullopt, out);
}

template <int kBits>
Status embedding_dtype_out(KernelContext&, const Tensor& weight, const Tensor& weight_scales,
                           const Tensor* weight_zero_points, int64_t, int64_t,
                           const Tensor& indices, std::optional<int64_t> dtype, Tensor& out) {
  return embed({weight, weight_scales, weight_zero_points, kBits}, indices, dtype, out);
}

}  // namespace

extern const Kernel kEmbeddingByteOut;
const Kernel kEmbeddingByteOut =
    make_kernel<embedding_out<8>>("quantized_decomposed::embedding_byte.out");
extern const Kernel kEmbeddingByteDtypeOut;
const Kernel kEmbeddingByteDtypeOut =
    make_kernel<embedding_dtype_out<8>>("quantized_decomposed::embedding_byte.dtype_out");
extern const Kernel kEmbedding4bitOut;
const Kernel kEmbedding4bitOut =
    make_kernel<embedding_out<4>>("quantized_decomposed::embedding_4bit.out");
extern const Kernel kEmbedding4bitDtypeOut;
const Kernel kEmbedding4bitDtypeOut =
    make_kernel<embedding_dtype_out<4>>("quantized_decomposed::embedding_4bit.dtype_out");
extern const Kernel kEmbedding2bitOut;
const Kernel kEmbedding2bitOut =
    make_kernel<embedding_out<2>>("quantized_decomposed::embedding_2bit.out");
extern const Kernel kEmbedding2bitDtypeOut;
const Kernel kEmbedding2bitDtypeOut =
    make_kernel<embedding_dtype_out<2>>("quantized_decomposed::embedding_2bit.dtype_out");

}  // namespace taper::portable
