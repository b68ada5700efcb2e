// convolution.out in one to three dimensions, plain or transposed: of contiguous floats by the
// algorithms of conv_planes.h, of others by the portable kernel's product with faster loops. Clamps
// that follow in place are applied to what is stored.

#include "kernels_optimized/cores/conv_planes.h"
#include "kernels_optimized/cores/gemm.h"
#include "kernels_optimized/cores/multipliers.h"
#include "kernels_optimized/engine/find_bounds.h"
#include "kernels_optimized/engine/overlay.h"

namespace taper::optimized {
namespace {

// REQUIRES: they share a dtype.
bool are_plain(const Tensor& input, const Tensor& weight, const Tensor& out) {
  return input.is_contiguous() && weight.is_contiguous() && out.is_contiguous();
}

bool resize(Tensor& out, const int64_t* sizes) {
  int32_t narrow[portable::kSpatial + 2];
  for (int64_t d = 0; d < out.dim(); ++d) {
    if (sizes[d] < 0 || sizes[d] > INT32_MAX) return false;
    narrow[d] = static_cast<int32_t>(sizes[d]);
  }
  return out.resize({narrow, static_cast<size_t>(out.dim())}).ok();
}

// Computes the convolution and clamps it.
bool convolve(KernelContext& context, const Tensor& input, const Tensor& weight, const Tensor* bias,
              const portable::ConvOptions& options, const Bounds& bounds, Tensor& out) {
  if (!share_dtype(out, input, weight, bias != nullptr ? *bias : out) || out.dim() != input.dim()) {
    return false;
  }
  portable::Convolution conv;
  int64_t sizes[portable::kSpatial + 2];
  if (!portable::describe_convolution(input, weight, options, &conv, sizes).ok()) return false;
  if (bias != nullptr && (bias->dim() != 1 || bias->numel() != sizes[1])) return false;
  if (!resize(out, sizes)) return false;
  if (out.numel() == 0 || input.numel() == 0) return false;
  conv.out = portable::conv_image(out);
  conv.bias = bias;
  const ScalarType type = out.scalar_type();
  const bool is_plain = are_plain(input, weight, out);
  const bool transposed = options.transposed;
  if (bounds.clamps() && (type != ScalarType::kFloat || !is_plain || transposed)) return false;
  const bool is_narrow = type == ScalarType::kHalf || type == ScalarType::kBFloat16;
  const bool is_depthwise = conv.group_in() == 1 && conv.groups > 1;
  if (is_narrow && is_plain && (transposed || is_depthwise) && convolve_widened(conv, context)) {
    return true;
  }
  if (type != ScalarType::kFloat || !is_plain) {
    portable::Multipliers by;
    return find_multipliers(context, &by) && portable::convolve(conv, &by).ok();
  }
  if (transposed) return convolve_transposed(conv, context);
  if (is_depthwise) return convolve_planes(conv, bounds, context.pool());
  return convolve_direct(conv, bounds, context) || convolve_dense(conv, bounds, context);
}

bool fast_convolution(KernelContext& context, const Tensor& input, const Tensor& weight,
                      const Tensor* bias, IntList stride, IntList padding, IntList dilation,
                      bool transposed, IntList output_padding, int64_t groups, Tensor& out) {
  return convolve(context, input, weight, bias,
                  {stride, padding, dilation, transposed, output_padding, groups}, {}, out);
}

// The convolution and clamp, hardtanh or relu, whose arguments between the tensors are `by`.
template <typename... By>
bool convolution_then_clamp(KernelContext& context, const Tensor& input, const Tensor& weight,
                            const Tensor* bias, IntList stride, IntList padding, IntList dilation,
                            bool transposed, IntList output_padding, int64_t groups, Tensor& out,
                            const Tensor& self, By... by, Tensor& last) {
  Bounds bounds;
  return works_in_place(out, self, last) && find_bounds(by..., &bounds) &&
         convolve(context, input, weight, bias,
                  {stride, padding, dilation, transposed, output_padding, groups}, bounds, out) &&
         last.resize(out.sizes()).ok();
}

}  // namespace

extern const Kernel kConvolutionOut;
const Kernel kConvolutionOut =
    overlay<fast_convolution, portable::kConvolutionOut>("aten::convolution.out");

extern const Kernel kClampOut, kHardtanhOut, kReluOut;

extern const Kernel kConvolutionClampOut;
const Kernel kConvolutionClampOut =
    joined<convolution_then_clamp<std::optional<Scalar>, std::optional<Scalar>>, kConvolutionOut,
           kClampOut>("aten::convolution.out+aten::clamp.out");

extern const Kernel kConvolutionHardtanhOut;
const Kernel kConvolutionHardtanhOut =
    joined<convolution_then_clamp<Scalar, Scalar>, kConvolutionOut, kHardtanhOut>(
        "aten::convolution.out+aten::hardtanh.out");

extern const Kernel kConvolutionReluOut;
const Kernel kConvolutionReluOut = joined<convolution_then_clamp<>, kConvolutionOut, kReluOut>(
    "aten::convolution.out+aten::relu.out");

}  // namespace taper::optimized
