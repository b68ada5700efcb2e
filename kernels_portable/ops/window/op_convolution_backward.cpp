// aten::convolution_backward.out: the gradients of a convolution with respect to its input, weight
// and bias; only those that output_mask asks for are written.
//
// The gradient with respect to the input is itself a convolution with the same weight: transposed
// if the forward one was plain, plain if it was transposed. For the gradient with respect to the
// weight, each tap is a sum of products of the wider image (the input, or the output of a
// transposed convolution) and the narrower one, shifted against each other by the offset of the
// tap.

#include <algorithm>

#include "kernels_portable/cores/conv.h"
#include "kernels_portable/engine/compute.h"
#include "kernels_portable/engine/dims.h"
#include "kernels_portable/engine/view.h"

namespace taper::portable {
namespace {

constexpr int64_t kLanes = 64;

// The dot product of two runs of `count` elements.
template <typename T>
T dot_runs(LoadFunction<T> load, const void* a, int64_t a_stride, const void* b, int64_t b_stride,
           int64_t count, ScalarType type) {
  T sum = T{0};
  T x[kLanes], y[kLanes];
  for (int64_t i = 0; i < count; i += kLanes) {
    const int64_t part = std::min(kLanes, count - i);
    load(element(a, i * a_stride, type), a_stride, part, x);
    load(element(b, i * b_stride, type), b_stride, part, y);
    for (int64_t j = 0; j < part; ++j) sum += x[j] * y[j];
  }
  return sum;
}

// One channel of all images.
struct Plane {
  const ConvImage* image;
  int64_t channel;

  const void* row(int64_t n, int64_t a, int64_t b, int64_t c) const {
    const int64_t offset = n * image->batch_stride + channel * image->channel_stride +
                           a * image->stride[0] + b * image->stride[1] + c * image->stride[2];
    return element(image->data, offset, image->type);
  }
};

// One element of the weight's gradient: the sum over y of narrow[y] * wide[y * stride + shift].
template <typename T>
T tap_gradient(const Convolution& conv, const Plane& narrow, const Plane& wide,
               const int64_t (&tap)[kSpatial]) {
  const ScalarType type = conv.in.type;
  const LoadFunction<T> load = loader<T>(type);
  int64_t shift[kSpatial], low[kSpatial], high[kSpatial];
  for (int d = 0; d < kSpatial; ++d) {
    const int64_t step = conv.stride[d];
    shift[d] = tap[d] * conv.dilation[d] - conv.padding[d];
    low[d] = shift[d] >= 0 ? 0 : (-shift[d] + step - 1) / step;
    const int64_t room = wide.image->size[d] - shift[d];
    high[d] = std::min(room <= 0 ? 0 : (room + step - 1) / step, narrow.image->size[d]);
  }
  T sum = T{0};
  const int64_t count = high[2] - low[2];
  if (count <= 0) return sum;
  for (int64_t n = 0; n < conv.batch; ++n) {
    for (int64_t a = low[0]; a < high[0]; ++a) {
      for (int64_t b = low[1]; b < high[1]; ++b) {
        sum += dot_runs(load, narrow.row(n, a, b, low[2]), narrow.image->stride[2],
                        wide.row(n, a * conv.stride[0] + shift[0], b * conv.stride[1] + shift[1],
                                 low[2] * conv.stride[2] + shift[2]),
                        wide.image->stride[2] * conv.stride[2], count, type);
      }
    }
  }
  return sum;
}

template <typename T>
void weight_gradient(const Convolution& conv) {
  const ConvWeight& weight = conv.weight;
  for (int64_t o = 0; o < conv.out.channels; ++o) {
    const int64_t group = o / conv.group_out();
    for (int64_t i = 0; i < conv.group_in(); ++i) {
      const Plane out = {&conv.out, o};
      const Plane in = {&conv.in, group * conv.group_in() + i};
      // A transposed weight is stored [in, out / groups]: its groups advance along `in`.
      const int64_t first =
          conv.transposed ? in.channel * weight.in_stride + o % conv.group_out() * weight.out_stride
                          : o * weight.out_stride + i * weight.in_stride;
      int64_t tap[kSpatial];
      for (tap[0] = 0; tap[0] < weight.size[0]; ++tap[0]) {
        for (tap[1] = 0; tap[1] < weight.size[1]; ++tap[1]) {
          for (tap[2] = 0; tap[2] < weight.size[2]; ++tap[2]) {
            const T sum =
                tap_gradient<T>(conv, conv.transposed ? in : out, conv.transposed ? out : in, tap);
            const int64_t at = first + weight.tap_offset(tap[0], tap[1], tap[2]);
            store_one(sum, element(weight.data, at, conv.in.type), conv.in.type);
          }
        }
      }
    }
  }
}

template <typename T>
void bias_gradient(const Convolution& conv, const Tensor& to) {
  const ScalarType type = conv.in.type;
  const LoadFunction<T> load = loader<T>(type);
  for (int64_t o = 0; o < conv.out.channels; ++o) {
    const Plane plane = {&conv.out, o};
    T sum = T{0};
    T values[kLanes];
    for (int64_t n = 0; n < conv.batch; ++n) {
      for (int64_t a = 0; a < conv.out.size[0]; ++a) {
        for (int64_t b = 0; b < conv.out.size[1]; ++b) {
          for (int64_t c = 0; c < conv.out.size[2]; c += kLanes) {
            const int64_t count = std::min(kLanes, conv.out.size[2] - c);
            load(plane.row(n, a, b, c), conv.out.stride[2], count, values);
            T part = T{0};
            for (int64_t j = 0; j < count; ++j) part += values[j];
            sum += part;
          }
        }
      }
    }
    store_one(sum, element(to.mutable_data(), o, type), type);
  }
}

// The convolution that computes the gradient with respect to the input.
Convolution carried_back(const Convolution& forward, const Tensor& grad_input) {
  Convolution back = forward;
  back.transposed = !forward.transposed;
  back.in = forward.out;
  back.out = conv_image(grad_input);
  std::swap(back.weight.in_stride, back.weight.out_stride);
  back.bias = nullptr;
  return back;
}

Status check_gradient(const Convolution& conv, const Tensor& grad_output, const Tensor& input,
                      const int64_t* sizes) {
  for (int64_t d = 0; d < input.dim(); ++d) {
    TAPER_REQUIRE(grad_output.size(d) == sizes[d], Error::kInvalidArgument,
                  "convolution_backward: grad_output does not have the convolution's sizes");
  }
  TAPER_REQUIRE(conv.out.channels > 0, Error::kInvalidArgument,
                "convolution_backward: there are no output channels");
  return {};
}

Status convolution_backward_out(KernelContext&, const Tensor& grad_output, const Tensor& input,
                                const Tensor& weight, std::optional<IntList>, IntList stride,
                                IntList padding, IntList dilation, bool transposed,
                                IntList output_padding, int64_t groups, BoolList output_mask,
                                Tensor& grad_input, Tensor& grad_weight, Tensor& grad_bias) {
  const ScalarType type = input.scalar_type();
  TAPER_REQUIRE(is_floating(type), Error::kInvalidType,
                "convolution_backward: tensors must be floating point");
  for (const Tensor* tensor :
       {&grad_output, &weight, static_cast<const Tensor*>(&grad_input),
        static_cast<const Tensor*>(&grad_weight), static_cast<const Tensor*>(&grad_bias)}) {
    TAPER_REQUIRE(tensor->scalar_type() == type, Error::kInvalidType,
                  "convolution_backward: all tensors must share one dtype");
  }
  TAPER_REQUIRE(output_mask.size() == 3, Error::kInvalidArgument,
                "convolution_backward: output_mask must have three entries");
  Convolution conv;
  int64_t sizes[kSpatial + 2];
  TAPER_TRY(describe_convolution(input, weight,
                                 {stride, padding, dilation, transposed, output_padding, groups},
                                 &conv, sizes));
  TAPER_REQUIRE(grad_output.dim() == input.dim(), Error::kInvalidArgument,
                "convolution_backward: grad_output must have the rank of input");
  conv.out = conv_image(grad_output);
  TAPER_TRY(check_gradient(conv, grad_output, input, sizes));
  if (output_mask[0]) {
    TAPER_TRY(grad_input.resize(input.sizes()));
    TAPER_TRY(convolve(carried_back(conv, grad_input)));
  }
  if (output_mask[1]) {
    TAPER_TRY(grad_weight.resize(weight.sizes()));
    TAPER_REQUIRE(same_dim_order(grad_weight, weight), Error::kNotSupported,
                  "convolution_backward: the weight and its gradient differ in dim order");
  }
  if (output_mask[2]) TAPER_TRY(resize_out(grad_bias, &sizes[1], 1));
  return with_float_type(type, [&](auto zero) -> Status {
    using T = decltype(zero);
    if (output_mask[2]) bias_gradient<T>(conv, grad_bias);
    if (output_mask[1]) {
      conv.weight.data = grad_weight.mutable_data();
      weight_gradient<T>(conv);
    }
    return {};
  });
}

}  // namespace

extern const Kernel kConvolutionBackwardOut;
const Kernel kConvolutionBackwardOut =
    make_kernel<convolution_backward_out>("aten::convolution_backward.out");

}  // namespace taper::portable
