#include "backends/vulkan/runtime/cpu_windows.h"

#include <algorithm>

#include "backends/vulkan/runtime/cpu_kernels.h"

namespace taper::vulkan {
namespace {

#define TAPER_FITS(condition, text) TAPER_REQUIRE(condition, Error::kInvalidArgument, text)

constexpr int64_t kMost = 1024;  // Of windows, strides, paddings and dilations.

int64_t item(IntList list, size_t i, int64_t otherwise) {
  return list.size() == 0 ? otherwise : list[std::min(i, list.size() - 1)];
}

bool is_size(int64_t value, int64_t least) { return value >= least && value < kMost; }

Status set_size(WindowSize& s, bool transposed, int64_t extra) {
  TAPER_FITS(is_size(s.window, 1) && is_size(s.stride, 1) && is_size(s.pad, 0) &&
                 is_size(s.dilation, 1) && is_size(extra, 0),
             "its windows, strides or dilations are out of range");
  const int64_t reach = s.dilation * (s.window - 1);
  const int64_t room = s.in + 2 * s.pad - reach - 1;
  s.out = transposed ? (s.in - 1) * s.stride - 2 * s.pad + reach + extra + 1
          : room < 0 ? -1
                     : room / s.stride + 1;
  TAPER_FITS(s.out >= 0 && s.out <= INT32_MAX, "its window is larger than the image");
  return {};
}

// The pixel that place `k` of a window at `at` covers; -1: none.
int64_t pixel_of(const WindowSize& s, bool transposed, int64_t at, int64_t k) {
  if (!transposed) {
    const int64_t pixel = at * s.stride - s.pad + k * s.dilation;
    return pixel < s.in ? pixel : -1;
  }
  const int64_t from = at + s.pad - k * s.dilation;
  return from >= 0 && from % s.stride == 0 && from / s.stride < s.in ? from / s.stride : -1;
}

// (x, weights, scales, bias, stride, padding, dilation, transposed, output padding, groups)
Status transposed_convolution(KernelContext&, const Tensor& x, const Tensor& weights,
                              const Tensor& scales, const Tensor* bias, IntList stride,
                              IntList padding, IntList dilation, bool, IntList output_padding,
                              int64_t groups, Tensor& out) {
  const bool are_floats = x.scalar_type() == ScalarType::kFloat &&
                          scales.scalar_type() == ScalarType::kFloat &&
                          out.scalar_type() == ScalarType::kFloat &&
                          (bias == nullptr || bias->scalar_type() == ScalarType::kFloat);
  TAPER_REQUIRE(are_floats && weights.scalar_type() == ScalarType::kChar, Error::kInvalidType,
                "its weights are not int8, or all else not float32");
  TAPER_FITS(
      weights.dim() >= 3 && weights.dim() <= 5 && groups >= 1 && weights.size(0) % groups == 0,
      "its groups do not divide");
  ByteConvolution c;
  c.transposed = true;
  c.groups = groups;
  c.group_in = weights.size(1);
  c.group_out = weights.size(0) / groups;
  int64_t kernel[3];
  for (int64_t d = 2; d < weights.dim(); ++d) kernel[d - 2] = weights.size(d);
  const WindowArguments args = {IntList(kernel, static_cast<size_t>(weights.dim()) - 2), stride,
                                padding, dilation, output_padding};
  int32_t sizes[kMaxRank];
  TAPER_TRY(set_windows(c, x.sizes(), args, sizes));
  TAPER_FITS(
      scales.numel() >= weights.size(0) && (bias == nullptr || bias->numel() == weights.size(0)),
      "its scales or its bias do not fit its weights");
  TAPER_TRY(out.resize({sizes, static_cast<size_t>(x.dim())}));
  c.plane = c.d[0].window * c.d[1].window * c.d[2].window;
  c.row = c.group_in * c.plane;
  c.x = x.const_data_ptr<float>();
  c.weights = static_cast<const int8_t*>(weights.const_data());
  c.scales = scales.const_data_ptr<float>();
  c.bias = bias == nullptr ? nullptr : bias->const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  convolve(c, [to](int64_t i, float value) { to[i] = value; });
  return {};
}

constexpr Kernel kTransposed =
    make_kernel<transposed_convolution>("vulkan::transposed_convolution_q8csw");
constexpr const Kernel* kTable[] = {&kTransposed};

}  // namespace

Status set_windows(ByteConvolution& c, Span<const int32_t> sizes, const WindowArguments& args,
                   int32_t* out_sizes) {
  const size_t spatial = args.kernel.size();
  TAPER_FITS(
      spatial >= 1 && spatial <= 3 && (sizes.size() == spatial + 1 || sizes.size() == spatial + 2),
      "it has no one to three spatial dimensions");
  const size_t first = sizes.size() - spatial;
  TAPER_FITS(c.groups >= 1 && sizes[first - 1] % c.groups == 0 &&
                 sizes[first - 1] / c.groups == c.group_in,
             "its weights do not fit its channels");
  c.images = first == 2 ? sizes[0] : 1;
  std::copy(sizes.begin(), sizes.end(), out_sizes);
  out_sizes[first - 1] = static_cast<int32_t>(c.groups * c.group_out);
  for (size_t i = 0; i < spatial; ++i) {
    WindowSize& s = c.d[3 - spatial + i];
    s.in = sizes[first + i];
    s.window = args.kernel[i];
    s.stride = item(args.stride, i, 1);
    s.pad = item(args.padding, i, 0);
    s.dilation = item(args.dilation, i, 1);
    TAPER_TRY(set_size(s, c.transposed, item(args.output_padding, i, 0)));
    out_sizes[first + i] = static_cast<int32_t>(s.out);
  }
  return {};
}

float element_of(const ByteConvolution& c, int64_t image, int64_t channel, const int64_t (&at)[3]) {
  const int64_t group = channel / c.group_out;
  const float* from =
      c.x + (image * c.groups + group) * c.group_in * c.d[0].in * c.d[1].in * c.d[2].in;
  const int8_t* by = c.weights + channel * c.row;
  float sum = 0;
  for (int64_t k = 0; k < c.d[0].window * c.d[1].window * c.d[2].window; ++k) {
    const int64_t place[3] = {k / (c.d[1].window * c.d[2].window),
                              k / c.d[2].window % c.d[1].window, k % c.d[2].window};
    int64_t pixel = 0;
    for (size_t d = 0; d < 3 && pixel >= 0; ++d) {
      const int64_t index = pixel_of(c.d[d], c.transposed, at[d], place[d]);
      pixel = index < 0 ? -1 : pixel * c.d[d].in + index;
    }
    if (pixel < 0) continue;
    const int64_t pixels = c.d[0].in * c.d[1].in * c.d[2].in;
    for (int64_t i = 0; i < c.group_in; ++i) {
      sum += from[i * pixels + pixel] * static_cast<float>(by[i * c.plane + k * c.step]);
    }
  }
  return sum * c.scales[channel];
}

KernelTable cpu_window_kernels() { return kTable; }

}  // namespace taper::vulkan
