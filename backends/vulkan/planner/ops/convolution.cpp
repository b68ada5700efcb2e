// Convolutions of one to three dimensions, transposed ones and groups among them: a product with
// the image as a matrix, or directly where groups have few channels. Semantics: aten::convolution.

#include "backends/vulkan/planner/ops/convolution.h"

#include <limits>

#include "backends/vulkan/planner/operators.h"
#include "backends/vulkan/planner/ops/quantise.h"
#include "backends/vulkan/planner/ops/strided.h"
#include "backends/vulkan/planner/ops/winograd.h"

namespace taper::vulkan {
namespace {

constexpr const char* kNoSpace = "it has no one to three spatial dimensions";
constexpr int64_t kFewChannels = 4;  // Per group: then the direct form is taken.

int64_t product_of(const int64_t (&sizes)[3]) { return sizes[0] * sizes[1] * sizes[2]; }

int64_t out_size(const Convolution& c, size_t d, int64_t extra) {
  const Windows& w = c.windows;
  const int64_t reach = w.dilation[d] * (w.window[d] - 1);
  if (c.transposed) return (w.in[d] - 1) * w.stride[d] - 2 * w.pad[d] + reach + extra + 1;
  const int64_t room = w.in[d] + 2 * w.pad[d] - reach - 1;
  return room < 0 ? -1 : room / w.stride[d] + 1;
}

// The sizes of argument `weight`: [out, in / groups, window...], or [in, out / groups, window...]
// if it is transposed and these are not yet its rows.
void read_weight(Call& call, Convolution& c, size_t groups, bool is_by_row) {
  const Dims& dims = c.weight.dims;
  c.groups = call.integer(groups);
  if (!call.require(dims.rank >= 3 && dims.rank <= 5, kNoSpace)) return;
  if (!call.require(c.groups >= 1 && c.groups <= INT32_MAX, "its groups do not divide")) return;
  const bool is_whole = is_by_row || !c.transposed;
  c.out_channels = is_whole ? dims[0] : dims[1];
  const bool fits = is_whole || !__builtin_mul_overflow(dims[1], c.groups, &c.out_channels);
  c.group_in = is_whole ? dims[1] : dims[0] / c.groups;
  call.require(fits && (is_whole || dims[0] % c.groups == 0), "its groups do not divide");
  c.kernel.rank = 0;
  for (size_t d = 2; d < dims.rank; ++d) c.kernel.push_back(dims[d]);
  c.row = dims.product(1, dims.rank);
  c.plane = dims.product(2, dims.rank);
}

void convolve_directly(Call& call, const Convolution& c) {
  struct Push {
    uint32_t count;
    int32_t out_channels, group_in, group_out, in_channels, in[3], out[3], stride[3], pad[3],
        dilation[3];
    uint32_t row, plane, step;
    Ending ending;
  } push = {0,
            0,
            0,
            0,
            0,
            {},
            {},
            {},
            {},
            {},
            static_cast<uint32_t>(c.row),
            static_cast<uint32_t>(c.plane),
            static_cast<uint32_t>(c.step),
            Ending(c.epilogue)};
  const Windows& w = c.windows;
  const auto i32 = [](int64_t value) { return static_cast<int32_t>(value); };
  push.count = static_cast<uint32_t>(c.out.dims.numel());
  push.out_channels = i32(c.out_channels);
  push.group_in = i32(c.group_in);
  push.group_out = i32(c.out_channels / c.groups);
  push.in_channels = i32(c.in_channels);
  for (size_t d = 0; d < 3; ++d) {
    push.in[d] = i32(w.in[d]);
    push.out[d] = i32(w.out[d]);
    push.stride[d] = i32(w.stride[d]);
    push.pad[d] = i32(w.pad[d]);
    push.dilation[d] = i32(w.dilation[d]);
  }
  const Operand added = call.added();
  const bool has_residual = c.epilogue.residual != Residual::kNone;
  call.dispatch(Shader::depthwise);
  for (const int64_t size : w.window) call.constant(static_cast<uint32_t>(size));
  call.constant(c.has_bias)
      .constant(ending_kind(c.epilogue))
      .constant(static_cast<uint32_t>(c.epilogue.residual))
      .constant(c.has_bytes)
      .push(push)
      .writes(c.out)
      .reads(c.x)
      .reads(c.weight)
      .reads_any(c.has_bias, c.bias);
  if (has_residual || c.has_bytes) call.reads_any(has_residual, added);
  if (c.has_bytes) call.reads(c.scales);
  call.groups_for_words(c.out);
}

// Weights of a transposed convolution are [in, out / groups, window...]; as rows of a product they
// are wanted by output channel.
void transpose_weights(Call& call, Convolution& c) {
  const int64_t group_out = c.out_channels / c.groups;
  const Dims sizes = {4, {c.groups, group_out, c.group_in, c.plane}};
  Operand by_row = call.temporary(sizes.numel());
  by_row.dims = sizes;
  copy(call, sizes, dense(by_row),
       {c.weight, 0, {4, {c.group_in * group_out * c.plane, c.plane, group_out * c.plane, 1}}});
  c.weight = by_row;
  c.row = c.group_in * c.plane;
}

// convolution(x, weight, bias?, stride, padding, dilation, transposed, output_padding, groups).
// Operators that are never transposed have their groups in the place of that flag.
void read_floats(Call& call, Convolution& c, bool may_be_transposed = true) {
  c.x = call.tensor(0);
  c.weight = call.tensor(1);
  c.transposed = may_be_transposed && call.flag(6);
  call.require(c.weight.dtype == ScalarType::kFloat, "it multiplies a dtype other than float32");
  ConvolutionPlaces places;
  places.has_output_padding = may_be_transposed;
  read_weight(call, c, may_be_transposed ? 8 : 6, false);
  read_windows(call, c, places);
  if (call.ok() && c.transposed && c.out.dims.numel() != 0) transpose_weights(call, c);
}

void plan_convolution(Call& call, int) {
  Convolution c;
  c.epilogue = call.epilogue();
  read_floats(call, c);
  convolve(call, c);
}

// Products in float16 take weights that are floats first.
void widen_weights(Call& call, Convolution& c) {
  Operand floats = call.temporary(c.weight.dims.numel());
  floats.dims = c.weight.dims;
  Scaling by;
  by.has_tensors = true;
  by.scales = c.scales;
  by.channels = c.out_channels;
  by.inner = c.row;
  dequantise(call, c.weight, by, floats);
  c.weight = floats;
  c.has_bytes = false;
}

// convolution_q8csw(x, weight, scales, bias?, stride, padding, dilation, transposed,
// output_padding, groups), transposed_convolution_q8csw: bytes [out, in / groups, window...], of
// which each output channel has a scale, also if it is transposed.
void plan_packed_convolution(Call& call, int transposed) {
  Convolution c;
  c.epilogue = call.epilogue();
  c.x = call.tensor(0);
  c.weight = call.bytes(1);
  c.scales = call.tensor(2);
  c.grid = call.factor();
  c.has_bytes = true;
  c.transposed = call.flag(7);
  call.require(c.transposed == (transposed != 0),
               "it is transposed, or its name says so, not both");
  call.require(c.weight.dtype == ScalarType::kChar, "its weights are not of the dtype int8");
  read_weight(call, c, 9, true);
  read_windows(call, c, {3, 4, 5, 6, 8, true});
  if (call.ok() && call.in_half() && !is_direct(c)) widen_weights(call, c);
  convolve(call, c);
}

void plan_clamped(Call& call, Convolution& c, bool may_be_transposed, size_t bounds) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  c.epilogue.activation = Activation::kClamp;
  c.epilogue.least = static_cast<float>(call.number(bounds, -kInfinity));
  c.epilogue.most = static_cast<float>(call.number(bounds + 1, kInfinity));
  read_floats(call, c, may_be_transposed);
  convolve(call, c);
}

// convolution(...), then min? and max?
void plan_convolution_with_clamp(Call& call, int) {
  Convolution c;
  plan_clamped(call, c, true, 9);
}

// conv1d_pw(x, weight, bias?, stride, padding, dilation, groups, min?, max?), conv1d_dw
void plan_convolution_1d(Call& call, int) {
  Convolution c;
  call.require(call.tensor(1).dims.rank == 3, "it is not of one dimension");
  plan_clamped(call, c, false, 7);
}

constexpr Operator kOperators[] = {
    with_scales({"taper.convolution_q8csw.default", "aten::convolution.out", 10,
                 plan_packed_convolution, 0, true},
                1),
    {"taper.transposed_convolution_q8csw.default", "vulkan::transposed_convolution_q8csw", 10,
     plan_packed_convolution, 1, true},
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

// x is [images, channels, spatial...], with one to three spatial dimensions, or without images.
void read_windows(Call& call, Convolution& c, const ConvolutionPlaces& at) {
  c.has_bias = !call.is_none(at.bias);
  if (c.has_bias) c.bias = call.tensor(at.bias);
  const size_t spatial = c.kernel.rank;
  const bool has_images = c.x.dims.rank == spatial + 2;
  const bool has_space = spatial >= 1 && spatial <= 3;
  if (!call.require(has_space && (has_images || c.x.dims.rank == spatial + 1), kNoSpace)) return;
  call.require(
      c.x.dtype == ScalarType::kFloat && (!c.has_bias || c.bias.dtype == ScalarType::kFloat),
      "it multiplies a dtype other than float32");
  call.require(!c.has_bytes || (c.scales.dtype == ScalarType::kFloat && c.scales.dims.rank == 1 &&
                                c.scales.dims[0] >= c.out_channels),
               "its scales do not fit its weights");
  const Dims strides = call.integers(at.stride, spatial, 1);
  const Dims pads = call.integers(at.padding, spatial, 0);
  const Dims dilations = call.integers(at.dilation, spatial, 1);
  const Dims extra =
      at.has_output_padding ? call.integers(at.output_padding, spatial, 0) : Dims{spatial, {}};
  if (!call.ok()) return;
  const size_t first = has_images ? 2 : 1;
  c.images = has_images ? c.x.dims[0] : 1;
  c.in_channels = c.x.dims[first - 1];
  call.require(c.in_channels % c.groups == 0 && c.in_channels / c.groups == c.group_in,
               "its weights do not fit its channels");
  call.require(c.out_channels % c.groups == 0, "its groups do not divide");
  call.require(!c.has_bias || (c.bias.dims.rank == 1 &&
                               (c.bias.dims[0] == c.out_channels ||
                                (at.bias_may_be_longer && c.bias.dims[0] >= c.out_channels))),
               "its bias does not have an element for each channel");
  Dims dims = c.x.dims;
  dims[first - 1] = c.out_channels;
  for (size_t i = 0; i < spatial && call.ok(); ++i) {
    const size_t d = 3 - spatial + i;
    Windows& w = c.windows;
    w.in[d] = c.x.dims[first + i];
    w.window[d] = c.kernel[i];
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
  c.out = call.half_result(dims, c.epilogue.dtype());
}

bool is_direct(const Convolution& c) {
  return !c.transposed && c.groups > 1 && c.group_in <= kFewChannels;
}

Product image_product(const Convolution& c) {
  const Windows& w = c.windows;
  const int64_t window = product_of(w.window), pixels = product_of(w.in);
  const int64_t group_out = c.out_channels / c.groups;
  Product p;
  p.out = c.out;
  p.batch = c.images * c.groups;
  p.inner = c.groups;
  p.m = group_out;
  p.n = product_of(w.out);
  p.k = c.group_in * window;
  p.a = c.weight;
  p.a_m = c.row;
  p.a_k = 1;
  p.a_inner = p.m * c.row;
  p.a_has_bytes = c.has_bytes;
  p.scales = c.scales;
  p.grid = c.grid;
  p.b = c.x;
  p.b_k = pixels;
  p.b_n = 1;
  p.b_outer = c.in_channels * pixels;
  p.b_inner = c.group_in * pixels;
  const bool is_plain = window == 1 && product_of(w.stride) == 1 && p.n == pixels;
  p.second = c.transposed ? SecondMatrix::kTransposedImage
             : is_plain   ? SecondMatrix::kByColumn
                          : SecondMatrix::kImage;
  p.by_pixel = c.step != 1 && c.group_in != 1;
  p.windows = w;
  p.has_bias = c.has_bias;
  p.bias_is_by_row = true;
  p.bias = c.bias;
  p.epilogue = c.epilogue;
  return p;
}

void convolve(Call& call, const Convolution& c) {
  if (!call.ok() || c.out.dims.numel() == 0) return;
  if (is_direct(c)) return convolve_directly(call, c);
  if (!convolve_by_winograd(call, c)) multiply(call, image_product(c));
}

const Span<const Operator> kConvolutionOperators = kOperators;

}  // namespace taper::vulkan
