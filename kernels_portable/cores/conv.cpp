// Checks the arguments of a convolution and describes it as a Convolution; see conv.h.

#include "kernels_portable/cores/conv.h"

#include <algorithm>

namespace taper::portable {
namespace {

// The option for spatial dimension d: `list` has one entry for each, or one for all of them.
int64_t option(IntList list, int64_t d) {
  return list.size() == 1 ? list[0] : list[static_cast<size_t>(d)];
}

bool in_range(IntList list, int64_t rank, int64_t least) {
  if (list.size() != 1 && list.size() != static_cast<size_t>(rank)) return false;
  return std::all_of(list.begin(), list.end(),
                     [=](int64_t value) { return value >= least && value <= INT32_MAX; });
}

Status check_options(const Tensor& input, const Tensor& weight, const ConvOptions& options) {
  const int64_t rank = input.dim() - 2;
  TAPER_REQUIRE(rank >= 1 && rank <= kSpatial && weight.dim() == input.dim(),
                Error::kInvalidArgument, "convolution: input or weight has a wrong rank");
  TAPER_REQUIRE(in_range(options.stride, rank, 1), Error::kInvalidArgument,
                "convolution: stride must be positive, one for each dimension");
  TAPER_REQUIRE(in_range(options.padding, rank, 0), Error::kInvalidArgument,
                "convolution: padding must not be negative, one for each dimension");
  TAPER_REQUIRE(in_range(options.dilation, rank, 1), Error::kInvalidArgument,
                "convolution: dilation must be positive, one for each dimension");
  TAPER_REQUIRE(!options.transposed || in_range(options.output_padding, rank, 0),
                Error::kInvalidArgument,
                "convolution: output_padding must not be negative, one for each dimension");
  const int64_t channels = input.size(1);
  TAPER_REQUIRE(
      options.groups > 0 && channels % options.groups == 0 && weight.size(0) % options.groups == 0,
      Error::kInvalidArgument, "convolution: groups do not divide the channels");
  TAPER_REQUIRE(
      options.transposed ? weight.size(0) == channels : weight.size(1) == channels / options.groups,
      Error::kInvalidArgument, "convolution: weight does not fit the channels of input");
  return {};
}

Status output_size(const Convolution& conv, int d, int64_t output_padding, int64_t* size) {
  const int64_t reach = conv.dilation[d] * (conv.weight.size[d] - 1);
  if (conv.transposed) {
    TAPER_REQUIRE(output_padding < std::max(conv.stride[d], conv.dilation[d]),
                  Error::kInvalidArgument,
                  "convolution: output_padding must be less than stride or dilation");
    *size =
        (conv.in.size[d] - 1) * conv.stride[d] - 2 * conv.padding[d] + reach + output_padding + 1;
    TAPER_REQUIRE(*size >= 0 && *size <= INT32_MAX, Error::kInvalidArgument,
                  "convolution: the output would be empty or too large");
    return {};
  }
  const int64_t room = conv.in.size[d] + 2 * conv.padding[d] - reach - 1;
  TAPER_REQUIRE(room >= 0, Error::kInvalidArgument,
                "convolution: the kernel is larger than the padded input");
  *size = room / conv.stride[d] + 1;
  return {};
}

void describe_weight(const Tensor& weight, bool transposed, ConvWeight* result) {
  const Span<const int32_t> strides = weight.strides();
  *result = {weight.mutable_data(), strides[0], strides[1], {1, 1, 1}, {0, 0, 0}};
  if (transposed) std::swap(result->out_stride, result->in_stride);
  const int missing = kSpatial + 2 - static_cast<int>(weight.dim());
  for (int d = missing; d < kSpatial; ++d) {
    const int from = d - missing + 2;
    result->size[d] = weight.size(from);
    result->stride[d] = strides[from];
  }
}

}  // namespace

int64_t ConvImage::position_stride() const {
  int64_t step = 0;
  int64_t expected = 0;
  for (int d = kSpatial - 1; d >= 0; --d) {
    if (size[d] == 1) continue;
    if (step == 0) step = expected = stride[d];
    if (stride[d] != expected) return 0;
    expected *= size[d];
  }
  return step == 0 ? 1 : step;
}

ConvImage conv_image(const Tensor& tensor) {
  const Span<const int32_t> strides = tensor.strides();
  ConvImage image = {tensor.mutable_data(),
                     tensor.scalar_type(),
                     tensor.size(1),
                     {1, 1, 1},
                     strides[0],
                     strides[1],
                     {0, 0, 0}};
  const int missing = kSpatial + 2 - static_cast<int>(tensor.dim());
  for (int d = missing; d < kSpatial; ++d) {
    const int from = d - missing + 2;
    image.size[d] = tensor.size(from);
    image.stride[d] = strides[from];
  }
  return image;
}

Status describe_convolution(const Tensor& input, const Tensor& weight, const ConvOptions& options,
                            Convolution* conv, int64_t* sizes) {
  TAPER_TRY(check_options(input, weight, options));
  conv->batch = input.size(0);
  conv->groups = options.groups;
  conv->transposed = options.transposed;
  conv->in = conv_image(input);
  describe_weight(weight, options.transposed, &conv->weight);
  TAPER_REQUIRE(conv->weight.taps() > 0, Error::kInvalidArgument,
                "convolution: weight has an empty kernel");
  sizes[0] = conv->batch;
  sizes[1] = options.transposed ? weight.size(1) * options.groups : weight.size(0);
  const int64_t missing = kSpatial + 2 - input.dim();
  for (int d = 0; d < kSpatial; ++d) {
    const int64_t own = d - missing;  // The number of this dimension in the tensor; < 0 if missing.
    conv->stride[d] = own < 0 ? 1 : option(options.stride, own);
    conv->padding[d] = own < 0 ? 0 : option(options.padding, own);
    conv->dilation[d] = own < 0 ? 1 : option(options.dilation, own);
    if (own < 0) continue;
    const int64_t extra = options.transposed ? option(options.output_padding, own) : 0;
    TAPER_TRY(output_size(*conv, d, extra, &sizes[own + 2]));
  }
  return {};
}

}  // namespace taper::portable
