// Convolutions of one to three dimensions, transposed ones and groups among them: a product with
// the image as a matrix, or directly where groups have few channels. Semantics: aten::convolution.

#include <limits>

#include "backends/vulkan/planner/operators.h"
#include "backends/vulkan/planner/ops/product.h"
#include "backends/vulkan/planner/ops/strided.h"

namespace taper::vulkan {
namespace {

constexpr int64_t kFewChannels = 4;  // Per group: then the direct form is taken.

struct Convolution {
  Operand x, weight, bias, out;
  bool has_bias = false, transposed = false;
  int64_t images = 1, in_channels = 0, out_channels = 0, groups = 1;
  Windows windows;
  Epilogue epilogue;
};

int64_t out_size(const Convolution& c, size_t d, int64_t extra) {
  const Windows& w = c.windows;
  const int64_t reach = w.dilation[d] * (w.window[d] - 1);
  if (c.transposed) return (w.in[d] - 1) * w.stride[d] - 2 * w.pad[d] + reach + extra + 1;
  const int64_t room = w.in[d] + 2 * w.pad[d] - reach - 1;
  return room < 0 ? -1 : room / w.stride[d] + 1;
}

// x is [images, channels, spatial...], with one to three spatial dimensions, or without images.
// Operators that are never transposed have their groups in the place of that flag.
void read_arguments(Call& call, Convolution& c, bool may_be_transposed = true) {
  c.x = call.tensor(0);
  c.weight = call.tensor(1);
  c.has_bias = !call.is_none(2);
  if (c.has_bias) c.bias = call.tensor(2);
  c.transposed = may_be_transposed && call.flag(6);
  c.groups = call.integer(may_be_transposed ? 8 : 6);
  const size_t spatial = c.weight.dims.rank < 3 ? 0 : c.weight.dims.rank - 2;
  const bool has_images = c.x.dims.rank == spatial + 2;
  if (!call.require(spatial >= 1 && spatial <= 3 && (has_images || c.x.dims.rank == spatial + 1),
                    "it has no one to three spatial dimensions")) {
    return;
  }
  call.require(c.x.dtype == ScalarType::kFloat && c.weight.dtype == ScalarType::kFloat &&
                   (!c.has_bias || c.bias.dtype == ScalarType::kFloat),
               "it multiplies a dtype other than float32");
  const Dims strides = call.integers(3, spatial, 1), pads = call.integers(4, spatial, 0);
  const Dims dilations = call.integers(5, spatial, 1);
  const Dims extra = may_be_transposed ? call.integers(7, spatial, 0) : Dims{spatial, {}};
  const size_t first = has_images ? 2 : 1;
  c.images = has_images ? c.x.dims[0] : 1;
  c.in_channels = c.x.dims[first - 1];
  call.require(c.groups >= 1 && c.groups <= INT32_MAX && c.in_channels % c.groups == 0,
               "its groups do not divide");
  if (!call.ok()) return;
  const int64_t per_group = c.in_channels / c.groups;
  c.out_channels = c.transposed ? c.weight.dims[1] * c.groups : c.weight.dims[0];
  call.require(c.transposed ? c.weight.dims[0] == c.in_channels
                            : c.weight.dims[1] == per_group && c.out_channels % c.groups == 0,
               "its weights do not fit its channels");
  call.require(!c.has_bias || (c.bias.dims.rank == 1 && c.bias.dims[0] == c.out_channels),
               "its bias does not have an element for each channel");
  Dims dims = c.x.dims;
  dims[first - 1] = c.out_channels;
  for (size_t i = 0; i < spatial && call.ok(); ++i) {
    const size_t d = 3 - spatial + i;
    Windows& w = c.windows;
    w.in[d] = c.x.dims[first + i];
    w.window[d] = c.weight.dims[2 + i];
    w.stride[d] = strides[i];
    w.pad[d] = pads[i];
    w.dilation[d] = dilations[i];
    const bool sane = w.stride[d] >= 1 && w.stride[d] < 1024 && w.pad[d] >= 0 && w.pad[d] < 1024 &&
                      w.dilation[d] >= 1 && w.dilation[d] < 1024 && w.window[d] >= 1 &&
                      w.window[d] < 1024 && extra[i] >= 0 && extra[i] < 1024;
    if (!call.require(sane, "its windows, strides or dilations are out of range")) return;
    w.out[d] = out_size(c, d, extra[i]);
    call.require(w.out[d] >= 0, "its window is larger than the image");
    dims[first + i] = w.out[d];
  }
  c.out = call.result(dims, ScalarType::kFloat);
}

int64_t product_of(const int64_t (&sizes)[3]) { return sizes[0] * sizes[1] * sizes[2]; }

void convolve_directly(Call& call, const Convolution& c) {
  struct Push {
    uint32_t count;
    int32_t out_channels, group_in, group_out, in_channels, in[3], out[3], stride[3], pad[3],
        dilation[3];
    float least, most;
  } push = {};
  const Windows& w = c.windows;
  const auto i32 = [](int64_t value) { return static_cast<int32_t>(value); };
  push.count = static_cast<uint32_t>(c.out.dims.numel());
  push.out_channels = i32(c.out_channels);
  push.group_in = i32(c.in_channels / c.groups);
  push.group_out = i32(c.out_channels / c.groups);
  push.in_channels = i32(c.in_channels);
  for (size_t d = 0; d < 3; ++d) {
    push.in[d] = i32(w.in[d]);
    push.out[d] = i32(w.out[d]);
    push.stride[d] = i32(w.stride[d]);
    push.pad[d] = i32(w.pad[d]);
    push.dilation[d] = i32(w.dilation[d]);
  }
  push.least = c.epilogue.least;
  push.most = c.epilogue.most;
  const Operand added = call.added();
  call.dispatch(Shader::depthwise);
  for (const int64_t size : w.window) call.constant(static_cast<uint32_t>(size));
  call.constant(c.has_bias)
      .constant(static_cast<uint32_t>(c.epilogue.activation))
      .constant(static_cast<uint32_t>(c.epilogue.residual))
      .push(push)
      .writes(c.out)
      .reads(c.x)
      .reads(c.weight)
      .reads(c.has_bias ? c.bias : c.weight);  // A binding that is not used needs a buffer, too.
  if (c.epilogue.residual != Residual::kNone) call.reads(added);
  call.groups_for(c.out.dims.numel(), 256);
}

void convolve_by_product(Call& call, const Convolution& c) {
  const Windows& w = c.windows;
  const int64_t window = product_of(w.window), pixels = product_of(w.in);
  const int64_t group_in = c.in_channels / c.groups, group_out = c.out_channels / c.groups;
  Product p;
  p.out = c.out;
  p.batch = c.images * c.groups;
  p.inner = c.groups;
  p.m = group_out;
  p.n = product_of(w.out);
  p.k = group_in * window;
  p.a = c.weight;
  p.a_m = p.k;
  p.a_k = 1;
  p.a_inner = p.m * p.k;
  p.b = c.x;
  p.b_k = pixels;
  p.b_n = 1;
  p.b_outer = c.in_channels * pixels;
  p.b_inner = group_in * pixels;
  const bool is_plain = window == 1 && product_of(w.stride) == 1 && p.n == pixels;
  p.second = c.transposed ? SecondMatrix::kTransposedImage
             : is_plain   ? SecondMatrix::kByColumn
                          : SecondMatrix::kImage;
  p.windows = w;
  p.has_bias = c.has_bias;
  p.bias_is_by_row = true;
  p.bias = c.bias;
  p.epilogue = c.epilogue;
  multiply(call, p);
}

// Weights of a transposed convolution are [in, out / groups, window...]; as rows of a product they
// are wanted by output channel.
Operand transposed_weights(Call& call, const Convolution& c) {
  const int64_t window = product_of(c.windows.window);
  const int64_t group_in = c.in_channels / c.groups, group_out = c.out_channels / c.groups;
  const Dims sizes = {4, {c.groups, group_out, group_in, window}};
  Operand by_row = call.temporary(sizes.numel());
  by_row.dims = sizes;
  copy(call, sizes, dense(by_row),
       {c.weight, 0, {4, {group_in * group_out * window, window, group_out * window, 1}}});
  return by_row;
}

void convolve(Call& call, const Convolution& c) {
  if (!call.ok() || c.out.dims.numel() == 0) return;
  if (c.transposed) {
    Convolution by_row = c;
    by_row.weight = transposed_weights(call, c);
    convolve_by_product(call, by_row);
  } else if (c.in_channels / c.groups <= kFewChannels && c.groups > 1) {
    convolve_directly(call, c);
  } else {
    convolve_by_product(call, c);
  }
}

// convolution(x, weight, bias?, stride, padding, dilation, transposed, output_padding, groups)
void plan_convolution(Call& call, int) {
  Convolution c;
  read_arguments(call, c);
  c.epilogue = call.epilogue();
  convolve(call, c);
}

void convolve_and_clamp(Call& call, Convolution& c, size_t bounds) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  c.epilogue.activation = Activation::kClamp;
  c.epilogue.least = static_cast<float>(call.number(bounds, -kInfinity));
  c.epilogue.most = static_cast<float>(call.number(bounds + 1, kInfinity));
  convolve(call, c);
}

// convolution(...), then min? and max?
void plan_convolution_with_clamp(Call& call, int) {
  Convolution c;
  read_arguments(call, c);
  convolve_and_clamp(call, c, 9);
}

// conv1d_pw(x, weight, bias?, stride, padding, dilation, groups, min?, max?), conv1d_dw
void plan_convolution_1d(Call& call, int) {
  Convolution c;
  read_arguments(call, c, false);
  call.require(c.weight.dims.rank == 3, "it is not of one dimension");
  convolve_and_clamp(call, c, 7);
}

constexpr Operator kOperators[] = {
    {"aten.convolution.default", "aten::convolution.out", 9, plan_convolution, 0, true},
    {"et_vk.conv2d_gemm.default", "aten::convolution.out", 9, plan_convolution, 0, true},
    {"et_vk.conv1d_pw.default", "vulkan::conv1d", 9, plan_convolution_1d},
    {"et_vk.conv1d_dw.default", "vulkan::conv1d", 9, plan_convolution_1d},
    with_bounds({"et_vk.conv_with_clamp.default", "aten::convolution.out", 11,
                 plan_convolution_with_clamp}),
    with_bounds(
        {"conv_with_clamp.default", "aten::convolution.out", 11, plan_convolution_with_clamp}),
};

}  // namespace

const Span<const Operator> kConvolutionOperators = kOperators;

}  // namespace taper::vulkan
