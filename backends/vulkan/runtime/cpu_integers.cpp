// Operators between tensors of int8 on the processor.

#include <algorithm>
#include <cmath>

#include "backends/vulkan/runtime/cpu_kernels.h"
#include "backends/vulkan/runtime/cpu_windows.h"

namespace taper::vulkan {
namespace {

#define TAPER_FITS(condition, text) TAPER_REQUIRE(condition, Error::kInvalidArgument, text)

using Text = std::string_view;

struct Step {
  Step(double step, int64_t at) : scale(step), zero(at) {}
  float number(int8_t integer) const {
    return (static_cast<float>(integer) - static_cast<float>(zero)) * static_cast<float>(scale);
  }
  int8_t integer(float number) const {
    const float q =
        std::nearbyint(number * static_cast<float>(1 / scale)) + static_cast<float>(zero);
    return static_cast<int8_t>(q != q ? -128.0F : std::min(std::max(q, -128.0F), 127.0F));
  }
  double scale;
  int64_t zero;
};

bool are_bytes(std::initializer_list<const Tensor*> tensors) {
  return std::all_of(tensors.begin(), tensors.end(), [](const Tensor* tensor) {
    return tensor->scalar_type() == ScalarType::kChar;
  });
}

const int8_t* bytes(const Tensor& tensor) {
  return static_cast<const int8_t*>(tensor.const_data());
}
int8_t* bytes(Tensor& tensor) { return static_cast<int8_t*>(tensor.mutable_data()); }

constexpr char kNotBytes[] = "its tensors are not int8";

// Where element `i` of a tensor of `sizes` lies in one that broadcasts to it.
int64_t place_in(const Tensor& x, Span<const int32_t> sizes, int64_t i) {
  int64_t at = 0;
  for (size_t d = sizes.size(); d-- > 0; i /= sizes[d]) {
    const size_t skipped = sizes.size() - static_cast<size_t>(x.dim());
    if (d >= skipped && x.sizes()[d - skipped] != 1) at += i % sizes[d] * x.strides()[d - skipped];
  }
  return at;
}

Status add(KernelContext&, const Tensor& a, const Tensor& b, double a_scale, int64_t a_zero,
           double b_scale, int64_t b_zero, double scale, int64_t zero, double alpha, Tensor& out) {
  TAPER_REQUIRE(are_bytes({&a, &b, &out}), Error::kInvalidType, kNotBytes);
  const Tensor& large = a.dim() >= b.dim() ? a : b;
  const Tensor& small = a.dim() >= b.dim() ? b : a;
  int32_t sizes[kMaxRank];
  std::copy(large.sizes().begin(), large.sizes().end(), sizes);
  const auto rank = static_cast<size_t>(large.dim()),
             skipped = rank - static_cast<size_t>(small.dim());
  for (size_t d = skipped; d < rank; ++d) {
    const int32_t size = small.sizes()[d - skipped];
    TAPER_FITS(size == sizes[d] || size == 1 || sizes[d] == 1, "its tensors do not broadcast");
    if (sizes[d] == 1) sizes[d] = size;
  }
  TAPER_TRY(out.resize({sizes, rank}));
  const Step of_a(a_scale, a_zero), of_b(b_scale, b_zero), by(scale, zero);
  for (int64_t i = 0; i < out.numel(); ++i) {
    const float one = of_a.number(bytes(a)[place_in(a, out.sizes(), i)]);
    const float other = of_b.number(bytes(b)[place_in(b, out.sizes(), i)]);
    bytes(out)[i] = by.integer(one + static_cast<float>(alpha) * other);
  }
  return {};
}

Status relu(KernelContext&, const Tensor& x, double x_scale, int64_t x_zero, double scale,
            int64_t zero, Tensor& out) {
  TAPER_REQUIRE(are_bytes({&x, &out}), Error::kInvalidType, kNotBytes);
  TAPER_TRY(out.resize(x.sizes()));
  const Step of_x(x_scale, x_zero), by(scale, zero);
  for (int64_t i = 0; i < x.numel(); ++i) {
    bytes(out)[i] = by.integer(std::max(of_x.number(bytes(x)[i]), 0.0F));
  }
  return {};
}

Status pixel_shuffle(KernelContext&, const Tensor& x, double x_scale, int64_t x_zero,
                     double inverse, int64_t zero, int64_t factor, Tensor& out) {
  TAPER_REQUIRE(are_bytes({&x, &out}), Error::kInvalidType, kNotBytes);
  const auto rank = static_cast<size_t>(x.dim());
  TAPER_FITS(
      rank >= 3 && factor >= 1 && factor < 1024 && x.sizes()[rank - 3] % (factor * factor) == 0,
      "its channels are not of whole squares");
  int32_t sizes[kMaxRank];
  std::copy(x.sizes().begin(), x.sizes().end(), sizes);
  const int64_t height = sizes[rank - 2], width = sizes[rank - 1];
  TAPER_FITS(height * factor <= INT32_MAX && width * factor <= INT32_MAX,
             "its result is too large");
  sizes[rank - 3] = static_cast<int32_t>(sizes[rank - 3] / (factor * factor));
  sizes[rank - 2] = static_cast<int32_t>(height * factor);
  sizes[rank - 1] = static_cast<int32_t>(width * factor);
  TAPER_TRY(out.resize({sizes, rank}));
  const Step of_x(x_scale, x_zero), by(1 / inverse, zero);
  for (int64_t i = 0; i < out.numel(); ++i) {
    const int64_t column = i % (width * factor), rest = i / (width * factor);
    const int64_t row = rest % (height * factor), plane = rest / (height * factor);
    const int64_t from = plane * factor * factor + row % factor * factor + column % factor;
    const int64_t at = (from * height + row / factor) * width + column / factor;
    bytes(out)[i] = by.integer(of_x.number(bytes(x)[at]));
  }
  return {};
}

// Weights and what else a sum is made of.
struct Rows {
  const Tensor& weights;
  const Tensor& scales;
  const Tensor* bias;
};

Status check_rows(const Rows& r, int64_t channels) {
  TAPER_REQUIRE(are_bytes({&r.weights}) && r.scales.scalar_type() == ScalarType::kFloat &&
                    (r.bias == nullptr || r.bias->scalar_type() == ScalarType::kFloat),
                Error::kInvalidType, "its weights are not int8, or their scales not float32");
  TAPER_FITS(r.scales.numel() >= channels && (r.bias == nullptr || r.bias->numel() >= channels),
             "its scales or its bias do not fit its weights");
  return {};
}

// Element by element: store(i, number).
template <typename Store>
Status multiply(const Tensor& x, const Step& of_x, const Rows& r, Tensor& out, const Store& store) {
  const int64_t rank = x.dim();
  TAPER_FITS(rank >= 1 && r.weights.dim() == 2 && x.size(rank - 1) >= 1 &&
                 x.size(rank - 1) <= r.weights.size(1),
             "its weights do not fit its input");
  const int64_t k = x.size(rank - 1), n = r.weights.size(0), row = r.weights.size(1);
  TAPER_TRY(check_rows(r, n));
  int32_t sizes[kMaxRank];
  std::copy(x.sizes().begin(), x.sizes().end(), sizes);
  sizes[rank - 1] = static_cast<int32_t>(n);
  TAPER_TRY(out.resize({sizes, static_cast<size_t>(rank)}));
  const bool is_float = x.scalar_type() == ScalarType::kFloat;
  TAPER_REQUIRE(is_float || are_bytes({&x}), Error::kInvalidType, kNotBytes);
  for (int64_t i = 0; i < out.numel(); ++i) {
    const int8_t* by = bytes(r.weights) + i % n * row;
    float sum = 0;
    for (int64_t j = 0; j < k; ++j) {
      const int64_t at = i / n * k + j;
      const int8_t integer = is_float ? of_x.integer(x.const_data_ptr<float>()[at]) : bytes(x)[at];
      sum += of_x.number(integer) * static_cast<float>(by[j]);
    }
    sum *= r.scales.const_data_ptr<float>()[i % n];
    store(i, sum + (r.bias == nullptr ? 0 : r.bias->const_data_ptr<float>()[i % n]));
  }
  return {};
}

Status linear(KernelContext&, const Tensor& x, double x_scale, int64_t x_zero,
              const Tensor& weights, const Tensor&, const Tensor& scales, double scale,
              int64_t zero, const Tensor* bias, Text activation, Tensor& out) {
  TAPER_REQUIRE(are_bytes({&out}), Error::kInvalidType, kNotBytes);
  const Step by(scale, zero);
  const float least = activation == "relu" ? 0 : -INFINITY;
  return multiply(x, Step(x_scale, x_zero), {weights, scales, bias}, out,
                  [&](int64_t i, float sum) { bytes(out)[i] = by.integer(std::max(sum, least)); });
}

Status linear_to_floats(KernelContext&, const Tensor& x, double x_scale, int64_t x_zero,
                        const Tensor& weights, const Tensor&, const Tensor& scales,
                        const Tensor* bias, Tensor& out) {
  TAPER_REQUIRE(out.scalar_type() == ScalarType::kFloat, Error::kInvalidType,
                "its result is not float32");
  return multiply(x, Step(x_scale, x_zero), {weights, scales, bias}, out,
                  [&](int64_t i, float sum) { out.mutable_data_ptr<float>()[i] = sum; });
}

// What a convolution ends with.
struct Ending {
  double scale;
  int64_t zero;
  Text activation;
};

// c has its groups, and weights with their strides.
Status convolve_bytes(ByteConvolution& c, const Tensor& x, const Step& of_x, const Rows& r,
                      const WindowArguments& args, const Ending& ending, Tensor& out) {
  TAPER_REQUIRE(are_bytes({&x, &out}), Error::kInvalidType, kNotBytes);
  TAPER_TRY(check_rows(r, c.groups * c.group_out));
  int32_t sizes[kMaxRank];
  TAPER_TRY(set_windows(c, x.sizes(), args, sizes));
  TAPER_TRY(out.resize({sizes, static_cast<size_t>(x.dim())}));
  c.bytes = bytes(x);
  c.scale = static_cast<float>(of_x.scale);
  c.zero = static_cast<float>(of_x.zero);
  c.weights = bytes(r.weights);
  c.scales = r.scales.const_data_ptr<float>();
  c.bias = r.bias == nullptr ? nullptr : r.bias->const_data_ptr<float>();
  const Step by(ending.scale, ending.zero);
  const float least = ending.activation == "relu" ? 0 : -INFINITY;
  convolve(c, [&](int64_t i, float sum) { bytes(out)[i] = by.integer(std::max(sum, least)); });
  return {};
}

// Weights are [out, height * width * channels]; rows may be longer.
Status convolve_rows(bool transposed, const Tensor& x, const Step& of_x, const Rows& r,
                     int64_t groups, const WindowArguments& args, const Ending& ending,
                     Tensor& out) {
  TAPER_FITS(r.weights.dim() == 2 && args.kernel.size() == 2 && groups >= 1 && x.dim() >= 3 &&
                 r.weights.size(0) % groups == 0 && args.kernel[0] >= 1 && args.kernel[1] >= 1 &&
                 args.kernel[0] < 1024 && args.kernel[1] < 1024,
             "its weights do not fit its windows");
  ByteConvolution c;
  c.transposed = transposed;
  c.groups = groups;
  c.group_in = x.size(x.dim() - 3) / groups;
  c.group_out = r.weights.size(0) / groups;
  c.row = r.weights.size(1);
  c.plane = 1;
  c.step = c.group_in;
  TAPER_FITS(c.group_in <= c.row / (args.kernel[0] * args.kernel[1]),
             "its weights do not fit its channels");
  return convolve_bytes(c, x, of_x, r, args, ending, out);
}

Status conv2d(KernelContext&, const Tensor& x, double x_scale, int64_t x_zero,
              const Tensor& weights, const Tensor&, const Tensor& scales, double scale,
              int64_t zero, const Tensor* bias, IntList kernel, IntList stride, IntList padding,
              IntList dilation, int64_t groups, Text activation, Tensor& out) {
  return convolve_rows(false, x, Step(x_scale, x_zero), {weights, scales, bias}, groups,
                       {kernel, stride, padding, dilation, {}}, {scale, zero, activation}, out);
}

Status conv2d_transposed(KernelContext&, const Tensor& x, double x_scale, int64_t x_zero,
                         const Tensor& weights, const Tensor&, const Tensor& scales, double scale,
                         int64_t zero, const Tensor* bias, IntList kernel, IntList stride,
                         IntList padding, IntList output_padding, IntList dilation, int64_t groups,
                         Text activation, Tensor& out) {
  return convolve_rows(true, x, Step(x_scale, x_zero), {weights, scales, bias}, groups,
                       {kernel, stride, padding, dilation, output_padding},
                       {scale, zero, activation}, out);
}

// Weights are [height, width, channels].
Status conv2d_dw(KernelContext&, const Tensor& x, double x_scale, int64_t x_zero,
                 const Tensor& weights, const Tensor&, const Tensor& scales, double scale,
                 int64_t zero, const Tensor* bias, IntList kernel, IntList stride, IntList padding,
                 IntList dilation, int64_t groups, Text activation, Tensor& out) {
  TAPER_FITS(weights.dim() == 3 && kernel.size() == 2 && kernel[0] == weights.size(0) &&
                 kernel[1] == weights.size(1) && groups >= 1 && groups <= weights.size(2),
             "its weights do not fit its windows");
  ByteConvolution c;
  c.groups = groups;
  c.group_in = c.group_out = 1;
  c.row = 1;
  c.step = weights.size(2);
  return convolve_bytes(c, x, Step(x_scale, x_zero), {weights, scales, bias},
                        {kernel, stride, padding, dilation, {}}, {scale, zero, activation}, out);
}

constexpr Kernel kAdd = make_kernel<add>("vulkan::q8ta_add");
constexpr Kernel kConv2d = make_kernel<conv2d>("vulkan::q8ta_conv2d");
constexpr Kernel kConv2dDw = make_kernel<conv2d_dw>("vulkan::q8ta_conv2d_dw");
constexpr Kernel kConv2dTransposed =
    make_kernel<conv2d_transposed>("vulkan::q8ta_conv2d_transposed");
constexpr Kernel kLinear = make_kernel<linear>("vulkan::q8ta_linear");
constexpr Kernel kLinearToFloats = make_kernel<linear_to_floats>("vulkan::linear_q8ta_q8csw");
constexpr Kernel kPixelShuffle = make_kernel<pixel_shuffle>("vulkan::q8ta_pixel_shuffle");
constexpr Kernel kRelu = make_kernel<relu>("vulkan::q8ta_relu");

constexpr const Kernel* kTable[] = {&kLinearToFloats,   &kAdd,    &kConv2d,       &kConv2dDw,
                                    &kConv2dTransposed, &kLinear, &kPixelShuffle, &kRelu};

}  // namespace

KernelTable cpu_integer_kernels() { return kTable; }

}  // namespace taper::vulkan
