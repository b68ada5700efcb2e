// Operators between tensors of int8, which ExecuTorch's exporter writes: each computes with the
// numbers that its integers stand for, and rounds its result to integers again.
// Semantics: executorch/backends/vulkan/custom_ops_lib.py, with weights as its patterns lay them.

#include <limits>

#include "backends/vulkan/planner/grids.h"
#include "backends/vulkan/planner/operators.h"
#include "backends/vulkan/planner/ops/convolution.h"
#include "backends/vulkan/planner/ops/quantise.h"
#include "backends/vulkan/planner/ops/quantised.h"
#include "backends/vulkan/planner/ops/strided.h"

namespace taper::vulkan {
namespace {

constexpr Bounds kBounds = {-128, 127};

// The numbers that argument `i` stands for, a temporary tensor; its scale and its zero point are
// arguments, too.
Operand numbers_of(Call& call, size_t i, size_t scale) {
  const Operand x = call.tensor(i);
  const Scaling by = scaling_of(call, call.number(scale), call.integer(scale + 1));
  Operand numbers = call.temporary(x.dims.numel());
  numbers.dims = x.dims;
  if (x.dtype == ScalarType::kFloat) {
    quantise(call, x, by, kBounds, ScalarType::kChar, numbers);
  } else {
    call.require(x.dtype == ScalarType::kChar, "its input is not of the dtype int8");
    dequantise(call, x, by, numbers);
  }
  return numbers;
}

// Which integers those are.
FactorGrid grid_of(Call& call, size_t scale) {
  return factor_grid(call.number(scale), call.integer(scale + 1), ScalarType::kChar);
}

// What the result becomes, by the scale and the zero point in the arguments, and the activation
// before that: "none" or "relu".
Epilogue to_integers(Call& call, size_t scale, size_t activation) {
  Epilogue epilogue;
  const bool fits = make_grid(call.number(scale), call.integer(scale + 1), kBounds,
                              ScalarType::kChar, epilogue.grid);
  call.require(fits, "its zero point is out of range");
  epilogue.grid.form = Grid::Form::kIntegers;
  const std::string_view name = call.is_none(activation) ? "none" : call.text(activation);
  call.require(name == "none" || name == "relu", "it has an activation that is not known");
  if (name == "relu") {
    epilogue.activation = Activation::kClamp;
    epilogue.most = std::numeric_limits<float>::infinity();
  }
  return epilogue;
}

// Result 0 = the integers for `numbers`, which has the same sizes.
void store(Call& call, const Operand& numbers, double scale, int64_t zero) {
  const Scaling by = scaling_of(call, scale, zero);
  const Operand out = call.result(numbers.dims, ScalarType::kChar);
  quantise(call, numbers, by, kBounds, ScalarType::kChar, out);
}

// q8ta_add(a, b, a_scale, a_zero, b_scale, b_zero, scale, zero, alpha)
void plan_add(Call& call, int) {
  const Operand a = numbers_of(call, 0, 2), b = numbers_of(call, 1, 4);
  const auto alpha = static_cast<float>(call.number(8));
  const Dims dims = broadcast(call, a.dims, b.dims);
  Operand sum = call.temporary(dims.numel());
  sum.dims = dims;
  elementwise(call, ADD, sum, {a, b}, {alpha, 0});
  store(call, sum, call.number(6), call.integer(7));
}

// q8ta_relu(x, x_scale, x_zero, scale, zero)
void plan_relu(Call& call, int) {
  const Operand x = numbers_of(call, 0, 1);
  Operand positive = call.temporary(x.dims.numel());
  positive.dims = x.dims;
  elementwise(call, CLAMP, positive, {x}, {0, std::numeric_limits<float>::infinity()});
  store(call, positive, call.number(3), call.integer(4));
}

// q8ta_pixel_shuffle(x, x_scale, x_zero, 1 / scale, zero, factor)
void plan_pixel_shuffle(Call& call, int) {
  const Operand x = numbers_of(call, 0, 1);
  const int64_t by = call.integer(5);
  const size_t rank = x.dims.rank;
  const bool fits = rank >= 3 && by >= 1 && by < 1024 && x.dims[rank - 3] % (by * by) == 0;
  if (!call.require(fits, "its channels are not of whole squares") || !call.ok()) return;
  Operand integers = call.temporary(x.dims.numel());
  integers.dims = x.dims;
  integers.dtype = ScalarType::kChar;
  quantise(call, x, scaling_of(call, 1 / call.number(3), call.integer(4)), kBounds,
           ScalarType::kChar, integers);
  Dims dims = x.dims;
  dims[rank - 3] /= by * by;
  const int64_t height = dims[rank - 2], width = dims[rank - 1], plane = height * width;
  const bool is_small = !__builtin_mul_overflow(height, by, &dims[rank - 2]) &&
                        !__builtin_mul_overflow(width, by, &dims[rank - 1]);
  call.require(is_small, "its result is too large");
  const Operand out = call.result(dims, ScalarType::kChar);
  const Dims sizes = {5, {dims.product(0, rank - 2), height, by, width, by}};
  copy(call, sizes, {out, 0, contiguous_strides(sizes)},
       {integers, 0, {5, {by * by * plane, width, by * plane, 1, plane}}});
}

PackedMatrix read_matrix(Call& call, const Operand& x, size_t weights, size_t scales) {
  PackedMatrix m;
  call.require(x.dims.rank >= 1, "a scalar has no rows");
  if (!call.ok()) return m;
  read_weights(call, weights, x.dims[x.dims.rank - 1], 8, m);
  m.group = m.k;
  read_scales_of_columns(call, scales, m);
  call.require(m.scales.dims.rank == 1, "it has scales of groups");
  return m;
}

// q8ta_linear(x, x_scale, x_zero, weights, sums, scales, scale, zero, bias?, activation)
void plan_linear(Call& call, int) {
  const Operand x = numbers_of(call, 0, 1);
  const PackedMatrix m = read_matrix(call, x, 3, 5);
  if (call.ok()) multiply_packed(call, x, grid_of(call, 1), m, 8, to_integers(call, 6, 9));
}

// linear_q8ta_q8csw(x, x_scale, x_zero, weights, sums, scales, bias?): the result stays float32.
void plan_linear_to_floats(Call& call, int) {
  const Operand x = numbers_of(call, 0, 1);
  const PackedMatrix m = read_matrix(call, x, 3, 5);
  if (call.ok()) multiply_packed(call, x, grid_of(call, 1), m, 6, {});
}

enum Form : int { kByRow, kDepthwise, kTransposed };

// Weights are [out, height * width * channels], or [height, width, out] of one channel each; rows
// may be longer.
void read_weights(Call& call, Convolution& c, int form) {
  const Dims& dims = c.weight.dims;
  const size_t rank = c.x.dims.rank;
  c.kernel = call.integers(9);
  const bool has_ranks =
      c.kernel.rank == 2 && (rank == 3 || rank == 4) && dims.rank == (form == kDepthwise ? 3U : 2U);
  if (!call.require(has_ranks && c.groups >= 1, "its weights are of another rank")) return;
  const int64_t height = c.kernel[0], width = c.kernel[1];
  const bool has_window = height >= 1 && height < 1024 && width >= 1 && width < 1024;
  if (!call.require(has_window, "its windows are out of range")) return;
  const int64_t window = height * width;
  if (form == kDepthwise) {
    c.out_channels = c.groups;
    c.group_in = 1;
    c.row = 1;
    c.step = dims[2];
    call.require(c.groups > 1 && c.groups <= dims[2] && dims[0] * dims[1] == window,
                 "its weights do not fit its channels");
    return;
  }
  c.out_channels = dims[0];
  c.group_in = c.x.dims[rank - 3] / c.groups;
  c.row = dims[1];
  c.plane = 1;
  c.step = c.group_in;
  call.require(c.group_in >= 1 && c.group_in <= dims[1] / window,
               "its weights do not fit its channels");
}

// q8ta_conv2d(x, x_scale, x_zero, weights, sums, scales, scale, zero, bias?, kernel, stride,
// padding, dilation, groups, activation); q8ta_conv2d_transposed has output_padding after padding.
void plan_convolution(Call& call, int form) {
  const size_t more = form == kTransposed ? 1 : 0;
  Convolution c;
  c.x = numbers_of(call, 0, 1);
  c.grid = grid_of(call, 1);
  c.weight = call.bytes(3);
  c.scales = call.tensor(5);
  c.has_bytes = true;
  c.transposed = form == kTransposed;
  c.groups = call.integer(13 + more);
  c.epilogue = to_integers(call, 6, 14 + more);
  call.require(c.weight.dtype == ScalarType::kChar, "its weights are not of the dtype int8");
  if (call.ok()) read_weights(call, c, form);
  ConvolutionPlaces places;
  places.bias = 8;
  places.stride = 10;
  places.padding = 11;
  places.output_padding = 12;
  places.dilation = 12 + more;
  places.has_output_padding = c.transposed;
  places.bias_may_be_longer = true;
  if (call.ok()) read_windows(call, c, places);
  convolve(call, c);
}

constexpr Operator kOperators[] = {
    {"et_vk.q8ta_add.default", "vulkan::q8ta_add", 9, plan_add},
    {"et_vk.q8ta_relu.default", "vulkan::q8ta_relu", 5, plan_relu},
    {"et_vk.q8ta_pixel_shuffle.default", "vulkan::q8ta_pixel_shuffle", 6, plan_pixel_shuffle},
    {"et_vk.q8ta_linear.default", "vulkan::q8ta_linear", 10, plan_linear},
    {"et_vk.q8ta_linear_gemv.default", "vulkan::q8ta_linear", 10, plan_linear},
    {"et_vk.linear_q8ta_q8csw.default", "vulkan::linear_q8ta_q8csw", 7, plan_linear_to_floats},
    {"et_vk.q8ta_conv2d.default", "vulkan::q8ta_conv2d", 15, plan_convolution, kByRow},
    {"et_vk.q8ta_conv2d_pw.default", "vulkan::q8ta_conv2d", 15, plan_convolution, kByRow},
    {"et_vk.q8ta_conv2d_general.default", "vulkan::q8ta_conv2d", 15, plan_convolution, kByRow},
    {"et_vk.q8ta_conv2d_im2col.default", "vulkan::q8ta_conv2d", 15, plan_convolution, kByRow},
    {"et_vk.q8ta_conv2d_dw.default", "vulkan::q8ta_conv2d_dw", 15, plan_convolution, kDepthwise},
    {"et_vk.q8ta_conv2d_transposed.default", "vulkan::q8ta_conv2d_transposed", 16, plan_convolution,
     kTransposed},
};

}  // namespace

const Span<const Operator> kIntegerTensorOperators = kOperators;

}  // namespace taper::vulkan
