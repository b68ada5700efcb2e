// Integers with a scale and a zero point for each block of elements, on the processor.

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/vulkan/runtime/cpu_kernels.h"
#include "kernels_portable/cores/quantized/quantize.h"

namespace taper::vulkan {
namespace {

#define TAPER_FITS(condition, text) TAPER_REQUIRE(condition, Error::kInvalidArgument, text)

// The number of elements of a block, which must lie side by side.
Status read_blocks(const Tensor& x, IntList blocks, int64_t& n) {
  bool fits = blocks.size() == static_cast<size_t>(x.dim()), is_inside = false;
  n = 1;
  for (size_t d = 0; d < blocks.size() && fits; ++d) {
    const int64_t size = x.sizes()[d];
    fits = blocks[d] >= 1 && blocks[d] <= size && size % blocks[d] == 0 &&
           (!is_inside || blocks[d] == size);
    is_inside = is_inside || blocks[d] != 1;
    n *= fits ? blocks[d] : 1;
  }
  TAPER_FITS(fits, "its blocks are not elements in a row");
  return {};
}

bool is_float(ScalarType dtype) {
  return dtype == ScalarType::kFloat || dtype == ScalarType::kDouble;
}

void store(Tensor& to, int64_t at, double value) {
  switch (to.scalar_type()) {
    case ScalarType::kFloat:
      to.mutable_data_ptr<float>()[at] = static_cast<float>(value);
      return;
    case ScalarType::kDouble:
      to.mutable_data_ptr<double>()[at] = value;
      return;
    case ScalarType::kInt:
      to.mutable_data_ptr<int32_t>()[at] = static_cast<int32_t>(value);
      return;
    case ScalarType::kLong:
      to.mutable_data_ptr<int64_t>()[at] = static_cast<int64_t>(value);
      return;
    default:
      static_cast<int8_t*>(to.mutable_data())[at] = static_cast<int8_t>(value);
  }
}

// The sizes of scales: those of blocks, of which whole dimensions go, or become 1.
Status resize(const Tensor& x, IntList blocks, bool keepdim, Tensor& out) {
  int32_t sizes[kMaxRank];
  size_t rank = 0;
  for (size_t d = 0; d < blocks.size(); ++d) {
    TAPER_FITS(rank + 2 <= kMaxRank, "its result has too many dimensions");
    const int64_t size = x.sizes()[d];
    const bool is_whole = blocks[d] == size && blocks[d] != 1;
    if (!is_whole) sizes[rank++] = static_cast<int32_t>(size / blocks[d]);
    if (blocks[d] != 1 && keepdim) sizes[rank++] = 1;
  }
  return out.resize({sizes, rank});
}

// (x, mapping, blocks, dtype, least, most, eps, scale dtype, zero point dtype, keepdim)
Status choose(KernelContext&, const Tensor& x, std::string_view mapping, IntList blocks,
              std::optional<int64_t>, std::optional<int64_t> least, std::optional<int64_t> most,
              std::optional<double> eps, std::optional<int64_t>, std::optional<int64_t>,
              bool keepdim, Tensor& scales, Tensor& zeros) {
  int64_t n = 1;
  TAPER_TRY(read_blocks(x, blocks, n));
  const bool is_symmetric = mapping == "SYMMETRIC";
  TAPER_FITS(is_symmetric || mapping == "ASYMMETRIC", "it maps numbers in another way");
  const ScalarType zero = zeros.scalar_type();
  TAPER_REQUIRE(
      x.scalar_type() == ScalarType::kFloat && is_float(scales.scalar_type()) &&
          (zero == ScalarType::kInt || zero == ScalarType::kLong || zero == ScalarType::kChar),
      Error::kInvalidType, "its tensors are of dtypes that it does not take");
  TAPER_TRY(resize(x, blocks, keepdim, scales));
  TAPER_TRY(resize(x, blocks, keepdim, zeros));
  const auto low_q = static_cast<float>(least.value_or(-128));
  const auto high_q = static_cast<float>(most.value_or(127));
  TAPER_FITS(low_q < high_q && std::fabs(low_q) < 1e6F && high_q < 1e6F,
             "its bounds are out of range");
  const auto smallest = static_cast<float>(eps.value_or(std::numeric_limits<float>::epsilon()));
  for (int64_t block = 0; block < scales.numel(); ++block) {
    const float* from = x.const_data_ptr<float>() + block * n;
    const float low = std::min(*std::min_element(from, from + n), 0.0F);
    const float high = std::max(*std::max_element(from, from + n), 0.0F);
    if (is_symmetric) {
      store(scales, block, std::max(std::max(-low, high) / ((high_q - low_q) / 2), smallest));
      store(zeros, block, std::trunc((high_q + low_q + 1) / 2));
      continue;
    }
    const float scale = std::max((high - low) / (high_q - low_q), smallest);
    store(scales, block, scale);
    const float steps = low_q - std::nearbyint(low / scale);
    store(zeros, block, std::min(std::max(steps, low_q), high_q));
  }
  return {};
}

portable::Run part_of(const Tensor& x, int64_t first, int64_t count) {
  return {x.mutable_data(), x.scalar_type(), first, 1, count};
}

Status check_scales(const Tensor& x, IntList blocks, const Tensor& scales, const Tensor* zeros,
                    int64_t& n) {
  TAPER_TRY(read_blocks(x, blocks, n));
  TAPER_TRY(portable::check_param_tensors(scales, zeros));
  TAPER_FITS(scales.numel() == x.numel() / n, "it does not have a scale for each block");
  return {};
}

// (x, blocks, scales, zeros, dtype, least, most)
Status quantise(KernelContext&, const Tensor& x, IntList blocks, const Tensor& scales,
                const Tensor* zeros, std::optional<int64_t>, std::optional<int64_t> least,
                std::optional<int64_t> most, Tensor& out) {
  int64_t n = 1;
  TAPER_TRY(check_scales(x, blocks, scales, zeros, n));
  const bool is_signed = out.scalar_type() == ScalarType::kChar;
  const portable::QuantRange range = {least.value_or(is_signed ? -128 : 0),
                                      most.value_or(is_signed ? 127 : 255)};
  TAPER_TRY(portable::check_quant_range(range, out.scalar_type()));
  TAPER_REQUIRE(x.scalar_type() == ScalarType::kFloat, Error::kInvalidType,
                "its input is not float32");
  TAPER_TRY(out.resize(x.sizes()));
  for (int64_t block = 0; block < scales.numel(); ++block) {
    const portable::QuantParams params = portable::params_at(scales, zeros, block);
    TAPER_TRY(portable::check_quant_params(params));
    portable::quantize_run(part_of(x, block * n, n), params, range,
                           portable::Rounding::kBeforeZeroPoint, part_of(out, block * n, n));
  }
  return {};
}

// (x, blocks, scales, zeros, dtype, least, most, dtype of the result)
Status dequantise(KernelContext&, const Tensor& x, IntList blocks, const Tensor& scales,
                  const Tensor* zeros, std::optional<int64_t>, std::optional<int64_t>,
                  std::optional<int64_t>, std::optional<int64_t>, Tensor& out) {
  int64_t n = 1;
  TAPER_TRY(check_scales(x, blocks, scales, zeros, n));
  const ScalarType dtype = x.scalar_type();
  TAPER_REQUIRE(out.scalar_type() == ScalarType::kFloat &&
                    (dtype == ScalarType::kChar || dtype == ScalarType::kByte ||
                     dtype == ScalarType::kShort || dtype == ScalarType::kInt),
                Error::kInvalidType, "its tensors are of dtypes that it does not take");
  TAPER_TRY(out.resize(x.sizes()));
  for (int64_t block = 0; block < scales.numel(); ++block) {
    portable::QuantParams params = portable::params_at(scales, zeros, block);
    params.difference = ScalarType::kDouble;  // torchao subtracts floats.
    portable::dequantize_run(part_of(x, block * n, n), params, part_of(out, block * n, n));
  }
  return {};
}

constexpr Kernel kChoose = make_kernel<choose>("vulkan::choose_qparams_affine");
constexpr Kernel kDequantise = make_kernel<dequantise>("vulkan::dequantize_affine");
constexpr Kernel kQuantise = make_kernel<quantise>("vulkan::quantize_affine");

constexpr const Kernel* kTable[] = {&kChoose, &kDequantise, &kQuantise};

}  // namespace

KernelTable cpu_block_kernels() { return kTable; }

}  // namespace taper::vulkan
