// taper::look_up.out: bytes become numbers of a table, one or more for each byte, times scales.
//
//   bytes   [..., n, count]
//   table   [256, each]
//   scales  [n], or [1] for all
//   out     [..., n, count * each]: table[byte] * scale

#include "kernels_portable/cores/quantized/row_sizes.h"
#include "taper/kernel.h"

namespace taper::portable {
namespace {

constexpr int64_t kBytes = 256;

bool is_dense(const Tensor& tensor, ScalarType dtype) {
  return tensor.scalar_type() == dtype && tensor.is_contiguous();
}

Status look_up_out(KernelContext&, const Tensor& bytes, const Tensor& table, const Tensor& scales,
                   Tensor& out) {
  const int64_t rank = bytes.dim(), rows = scales.numel();
  TAPER_REQUIRE(
      is_dense(bytes, ScalarType::kByte) && is_dense(table, ScalarType::kFloat) &&
          is_dense(scales, ScalarType::kFloat) && is_dense(out, ScalarType::kFloat) && rank >= 2 &&
          table.dim() == 2 && table.size(0) == kBytes && scales.dim() == 1 &&
          (rows == bytes.size(rank - 2) || rows == 1),
      Error::kInvalidArgument,
      "look_up: bytes need a float32 table of 256 rows, and a scale for each of their rows");
  const int64_t count = bytes.size(rank - 1), each = table.size(1);
  TAPER_TRY(resize_rows(out, bytes, static_cast<size_t>(rank) - 1, count * each));
  const uint8_t* from = bytes.const_data_ptr<uint8_t>();
  float* to = out.mutable_data_ptr<float>();
  const float* const last = to + out.numel();
  for (int64_t row = 0; to != last; row = row + 1 == rows ? 0 : row + 1) {
    const float scale = scales.const_data_ptr<float>()[row];
    for (const uint8_t* const end = from + count; from != end; ++from) {
      const float* numbers = table.const_data_ptr<float>() + *from * each;
      for (int64_t j = 0; j < each; ++j) *to++ = numbers[j] * scale;
    }
  }
  return {};
}

}  // namespace

extern const Kernel kLookUpOut;
const Kernel kLookUpOut = make_kernel<look_up_out>("taper::look_up.out");

}  // namespace taper::portable
