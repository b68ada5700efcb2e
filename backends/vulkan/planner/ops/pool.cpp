// Pooling of images: maxima with their places, means, adaptive means. Semantics: PyTorch; the
// compiler brings pooling of one and three dimensions to these forms.

#include "backends/vulkan/planner/call.h"
#include "backends/vulkan/planner/operators.h"

namespace taper::vulkan {
namespace {

constexpr int64_t kMostWindow = 32767;  // Of sizes, strides, pads and dilations of windows.
constexpr int64_t kMostSize = int64_t{1} << 30;

// What pool.comp does; the shader has the numbers.
enum class PoolKind : uint32_t { kMaximum, kMean, kAdaptiveMean };

// In the order of the shader's push constants; pairs are height, width.
struct Pooling {
  uint32_t count = 0;
  uint32_t unused = 0;  // Pairs begin at multiples of eight bytes.
  int32_t size[2] = {}, out_size[2] = {}, window[2] = {}, stride[2] = {}, pad[2] = {},
          dilation[2] = {1, 1};
  int32_t divisor = 0;
};

// Sets the sizes of the images of x. Returns the sizes of the result, without the last two.
Dims read_images(Call& call, const Operand& x, Pooling& pooling) {
  const size_t rank = x.dims.rank;
  if (!call.require(rank == 3 || rank == 4, "it pools no image")) return {};
  for (size_t d = 0; d < 2; ++d) {
    const int64_t size = x.dims[rank - 2 + d];
    call.require(size > 0 && size < kMostSize, "it pools an empty or a huge image");
    pooling.size[d] = static_cast<int32_t>(size);
  }
  Dims dims = x.dims;
  dims.rank = rank - 2;
  return dims;
}

// Reads window, stride, pad and, if there is one, dilation; adds the sizes of the result.
void read_windows(Call& call, Pooling& pooling, bool has_dilation, Dims& dims) {
  const Dims window = call.integers(1, 2, 0);
  const bool has_stride = !call.is_none(2) && call.integers(2).rank != 0;
  const Dims stride = has_stride ? call.integers(2, 2, 0) : window;
  const Dims pad = call.integers(3, 2, 0);
  const Dims dilation = has_dilation ? call.integers(4, 2, 1) : Dims{2, {1, 1}};
  const bool rounds_up = call.flag(has_dilation ? 5 : 4);
  if (!call.ok()) return;
  for (size_t d = 0; d < 2; ++d) {
    const bool sane = window[d] >= 1 && window[d] <= kMostWindow && stride[d] >= 1 &&
                      stride[d] <= kMostWindow && dilation[d] >= 1 && dilation[d] <= kMostWindow;
    if (!call.require(sane, "its windows, strides or dilations are out of range")) return;
    const int64_t reach = (window[d] - 1) * dilation[d] + 1;
    if (!call.require(pad[d] >= 0 && pad[d] <= reach / 2 && pad[d] <= kMostWindow,
                      "its padding is larger than half of its window")) {
      return;
    }
    const int64_t in = pooling.size[d];
    const int64_t room = in + 2 * pad[d] - reach + (rounds_up ? stride[d] - 1 : 0);
    if (!call.require(room >= 0, "its window is larger than the image")) return;
    int64_t out = room / stride[d] + 1;
    // The last window begins inside the image or in the padding before it.
    if (rounds_up && (out - 1) * stride[d] >= in + pad[d]) --out;
    pooling.out_size[d] = static_cast<int32_t>(out);
    pooling.window[d] = static_cast<int32_t>(window[d]);
    pooling.stride[d] = static_cast<int32_t>(stride[d]);
    pooling.pad[d] = static_cast<int32_t>(pad[d]);
    pooling.dilation[d] = static_cast<int32_t>(dilation[d]);
    dims.push_back(out);
  }
}

void pool(Call& call, PoolKind kind, Pooling pooling, const Operand& out, const Operand& x,
          const Operand* indices, bool counts_pad) {
  pooling.count = static_cast<uint32_t>(out.dims.numel());
  call.dispatch(Shader::pool)
      .constant(static_cast<uint32_t>(kind))
      .constant(x.dtype == ScalarType::kFloat)
      .constant(indices != nullptr)
      .constant(counts_pad)
      .push(pooling)
      .writes(out)
      .reads(x);
  if (indices != nullptr) call.writes(*indices);
  call.groups_for_words(out);
}

// max_pool2d_with_indices(x, int[2] window, int[2] stride, int[2] pad, int[2] dilation, bool ceil),
// max_pool2d
void plan_max_pool(Call& call, int has_indices) {
  const Operand x = call.tensor(0);
  Pooling pooling;
  Dims dims = read_images(call, x, pooling);
  read_windows(call, pooling, true, dims);
  const bool is_integer = x.dtype == ScalarType::kInt || x.dtype == ScalarType::kLong ||
                          x.dtype == ScalarType::kChar || x.dtype == ScalarType::kByte ||
                          x.dtype == ScalarType::kShort;
  call.require(x.dtype == ScalarType::kFloat || is_integer,
               "it pools a dtype other than float32 or integers");
  const Operand out = call.half_result(0, dims, x.dtype);
  if (has_indices == 0) return pool(call, PoolKind::kMaximum, pooling, out, x, nullptr, false);
  const Operand indices = call.result(1, dims, ScalarType::kLong);
  pool(call, PoolKind::kMaximum, pooling, out, x, &indices, false);
}

// avg_pool2d(x, int[2] window, int[2] stride, int[2] pad, bool ceil, bool count_include_pad,
//            int? divisor)
void plan_avg_pool(Call& call, int) {
  const Operand x = call.tensor(0);
  Pooling pooling;
  Dims dims = read_images(call, x, pooling);
  read_windows(call, pooling, false, dims);
  const int64_t divisor = call.integer(6, 0);
  call.require(x.dtype == ScalarType::kFloat, "it averages a dtype other than float32");
  call.require(call.is_none(6) || (divisor != 0 && divisor >= INT32_MIN && divisor <= INT32_MAX),
               "its divisor is out of range");
  pooling.divisor = static_cast<int32_t>(divisor);
  const bool counts_pad = call.is_none(5) || call.flag(5);
  pool(call, PoolKind::kMean, pooling, call.half_result(dims, x.dtype), x, nullptr, counts_pad);
}

// _adaptive_avg_pool2d(x, SymInt[2] size)
void plan_adaptive_avg_pool(Call& call, int) {
  const Operand x = call.tensor(0);
  Pooling pooling;
  Dims dims = read_images(call, x, pooling);
  const Dims size = call.integers(1, 2, 0);
  call.require(x.dtype == ScalarType::kFloat, "it averages a dtype other than float32");
  for (size_t d = 0; d < 2 && call.ok(); ++d) {
    call.require(size[d] >= 1 && size[d] <= kMostWindow, "its output size is out of range");
    pooling.out_size[d] = static_cast<int32_t>(size[d]);
    dims.push_back(size[d]);
  }
  if (!call.ok()) return;
  pool(call, PoolKind::kAdaptiveMean, pooling, call.half_result(dims, x.dtype), x, nullptr, false);
}

constexpr Operator kOperators[] = {
    {"aten.max_pool2d_with_indices.default", "aten::max_pool2d_with_indices.out", 6, plan_max_pool,
     1},
    {"aten.max_pool2d.default", "vulkan::max_pool2d", 6, plan_max_pool},
    {"aten.avg_pool2d.default", "aten::avg_pool2d.out", 7, plan_avg_pool},
    {"aten._adaptive_avg_pool2d.default", "aten::_adaptive_avg_pool2d.out", 2,
     plan_adaptive_avg_pool},
};

}  // namespace

const Span<const Operator> kPoolOperators = kOperators;

}  // namespace taper::vulkan
