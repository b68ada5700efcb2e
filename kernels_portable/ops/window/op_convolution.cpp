// aten::convolution.out: convolution in one to three dimensions, plain or transposed, with groups,
// dilation and bias.
//
//   Types   floating point and integers, one dtype for all.
//   Layout  any dim order of input and weight; out row-major or channels last.

#include "kernels_portable/cores/conv.h"
#include "kernels_portable/engine/compute.h"
#include "kernels_portable/engine/view.h"

namespace taper::portable {
namespace {

Status convolution_out(KernelContext&, const Tensor& input, const Tensor& weight,
                       const Tensor* bias, IntList stride, IntList padding, IntList dilation,
                       bool transposed, IntList output_padding, int64_t groups, Tensor& out) {
  const ScalarType type = input.scalar_type();
  TAPER_REQUIRE(is_computable(type), Error::kInvalidType,
                "convolution: this dtype is not supported");
  TAPER_REQUIRE(weight.scalar_type() == type && out.scalar_type() == type &&
                    (bias == nullptr || bias->scalar_type() == type),
                Error::kInvalidType, "convolution: all tensors must share one dtype");
  Convolution conv;
  int64_t sizes[kSpatial + 2];
  TAPER_TRY(describe_convolution(input, weight,
                                 {stride, padding, dilation, transposed, output_padding, groups},
                                 &conv, sizes));
  TAPER_REQUIRE(bias == nullptr || (bias->dim() == 1 && bias->numel() == sizes[1]),
                Error::kInvalidArgument,
                "convolution: bias must have one element for each output channel");
  TAPER_TRY(resize_out(out, sizes, static_cast<size_t>(input.dim())));
  conv.out = conv_image(out);
  conv.bias = bias;
  return convolve(conv);
}

}  // namespace

extern const Kernel kConvolutionOut;
const Kernel kConvolutionOut = make_kernel<convolution_out>("aten::convolution.out");

}  // namespace taper::portable
