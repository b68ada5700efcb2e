// convolution.out of contiguous floats in one to three dimensions, plain or transposed.

#include "kernels_optimized/cores/conv_planes.h"
#include "kernels_optimized/cores/gemm.h"
#include "kernels_optimized/engine/overlay.h"
#include "kernels_optimized/engine/scratch.h"

namespace taper::optimized {
namespace {

bool are_plain(const Tensor& input, const Tensor& weight, const Tensor* bias, const Tensor& out) {
  return are_float(input, weight, out) && (bias == nullptr || are_float(*bias)) &&
         input.is_contiguous() && weight.is_contiguous() && out.is_contiguous() &&
         out.dim() == input.dim();
}

bool resize(Tensor& out, const int64_t* sizes) {
  int32_t narrow[portable::kSpatial + 2];
  for (int64_t d = 0; d < out.dim(); ++d) {
    if (sizes[d] < 0 || sizes[d] > INT32_MAX) return false;
    narrow[d] = static_cast<int32_t>(sizes[d]);
  }
  return out.resize({narrow, static_cast<size_t>(out.dim())}).ok();
}

bool fast_convolution(KernelContext& context, const Tensor& input, const Tensor& weight,
                      const Tensor* bias, IntList stride, IntList padding, IntList dilation,
                      bool transposed, IntList output_padding, int64_t groups, Tensor& out) {
  if (!are_plain(input, weight, bias, out)) return false;
  portable::Convolution conv;
  int64_t sizes[portable::kSpatial + 2];
  const portable::ConvOptions options = {stride,     padding,        dilation,
                                         transposed, output_padding, groups};
  if (!portable::describe_convolution(input, weight, options, &conv, sizes).ok()) return false;
  if (bias != nullptr && (bias->dim() != 1 || bias->numel() != sizes[1])) return false;
  if (!resize(out, sizes)) return false;
  if (out.numel() == 0 || input.numel() == 0) return false;
  conv.out = portable::conv_image(out);
  conv.bias = bias;
  if (transposed) {
    const Span<float> products = scratch_floats(context, kSpreadScratchFloats);
    return convolve_transposed(conv, products, scratch_floats(context, kGemmScratchFloats));
  }
  if (conv.group_in() == 1 && conv.groups > 1) return convolve_planes(conv, context.pool());
  return convolve_direct(conv, context) || convolve_dense(conv, context);
}

}  // namespace

extern const Kernel kConvolutionOut;
const Kernel kConvolutionOut =
    overlay<fast_convolution, portable::kConvolutionOut>("aten::convolution.out");

}  // namespace taper::optimized
