// Finds a convolution between two transposes and describes it to the kernels; see
// plane_convolution_stage.h.

#include "backends/xnnpack/runtime/stages/fused/plane_convolution_stage.h"

#include <pthreadpool.h>

#include <algorithm>

#include "backends/xnnpack/runtime/graph/node_kinds.h"
#include "backends/xnnpack/runtime/graph/turn.h"
#include "backends/xnnpack/runtime/graph/window_shape.h"
#include "backends/xnnpack/runtime/stages/fused/fusion.h"
#include "backends/xnnpack/runtime/xnnpack_threads.h"
#include "kernels_optimized/cores/gemm.h"

namespace taper::xnnpack {
namespace {

using optimized::WindowShape;
using wire::NodeContent;

// The number of multiplications that take about as long as a stage costs.
constexpr uint64_t kLeastProducts = uint64_t{1} << 15;

// How many groups there are, and the channels of each.
struct Groups {
  int64_t count, ins, outs;
};
Groups groups_of(const XnnNode& node) {
  const auto& t = node.as<wire::Convolution>();
  return {t.groups(), t.group_input_channels(), t.group_output_channels()};
}

bool is_convolution(const XnnNode& node, Span<const XnnValue> values) {
  const bool has_kind = node.content_type == NodeContent::Conv2d || is_depthwise(node);
  return node.is_needed && has_kind && is_in_floats(node, values) &&
         has_constant_filter(node, values);
}

// The number of products that are added up for each result.
int64_t terms_of(const WindowShape& shape, const Groups& group) {
  return group.ins * shape.window_height * shape.window_width;
}

// Whether the kernels take less time than the transposes and XNNPACK. The larger a window, the more
// XNNPACK saves by its packed filters, and the less of the whole are the transposes.
bool is_better(const WindowShape& shape, const Groups& group) {
  if (is_pointwise(shape)) return group.ins <= 64 || group.outs <= 32;
  const int64_t terms = terms_of(shape, group);
  const bool has_square = shape.window_height == 3 && shape.window_width == 3 &&
                          shape.step_across == 2 && shape.step_down == 2 &&
                          shape.dilation_down == 1 && shape.dilation_across == 1;
  if (group.ins == 1) {
    // A step makes the kernel read element by element, unless the window is a square.
    return terms <= (shape.step_across == 1 || has_square ? 9 : 4);
  }
  if (shape.step_across > 1 && terms > 4 * group.outs) return false;
  const bool is_small = group.count == 1 && group.ins <= 8 && group.outs <= 8;
  return terms <= 48 || group.outs <= 4 || (is_small && terms <= 72);
}

// Whether what the convolution reads and writes are the planes [images, channels, ...] of `in` and
// `out`, since the reshapes beside it may make anything of them. `shape` is that of the node.
bool has_planes(const XnnNode& node, Span<const XnnValue> values, const WindowShape& shape,
                const Shape& in, const Shape& out) {
  const Shape &read = input(node, values).shape, &written = values[node.output].shape;
  if (in.rank != out.rank || in.dims[0] != out.dims[0] || in.dims[1] != read.last() ||
      out.dims[1] != written.last()) {
    return false;
  }
  if (is_pointwise(shape)) return area_of(in) == area_of(out);
  const auto count = [](int64_t height, int64_t width) {
    return static_cast<uint64_t>(height * width);
  };
  return in.dims[0] == read.dims[0] && area_of(in) == count(shape.height, shape.width) &&
         area_of(out) == count(shape.out_height, shape.out_width);
}

portable::ConvImage image_of(int64_t channels, int64_t height, int64_t width) {
  const int64_t area = height * width;
  return {nullptr, ScalarType::kFloat, channels, {1, height, width}, channels * area,
          area,    {area, width, 1}};
}

// Copies the filter to [out, in, taps].
void copy_filter(const XnnNode& node, Span<const XnnValue> values, float* to) {
  const auto& t = node.as<wire::Convolution>();
  const float* filter = floats_of(input(node, values, 1));
  const size_t taps = size_t{t.kernel_height()} * t.kernel_width();
  const size_t ins = t.group_input_channels();
  const size_t outs = size_t{t.group_output_channels()} * t.groups();
  for (size_t o = 0; o < outs; ++o) {
    for (size_t i = 0; i < ins; ++i) {
      for (size_t tap = 0; tap < taps; ++tap) {
        *to++ = filter[is_depthwise(node) ? tap * outs + o : (o * taps + tap) * ins + i];
      }
    }
  }
}

}  // namespace

size_t PlaneConvolutionStage::count(const Subgraph& graph, Span<const uint32_t> uses,
                                    size_t first) {
  const Span<const XnnNode> nodes = graph.nodes();
  const Span<const XnnValue> values = graph.values();
  if (first + 3 > nodes.size() || !is_turn(nodes[first], false)) return 0;
  if (input(nodes[first], values).data != nullptr) return 0;
  const bool has_reshapes = nodes[first + 1].content_type == NodeContent::Reshape;
  const size_t count = has_reshapes ? 5 : 3;
  if (first + count > nodes.size()) return 0;
  for (size_t n = first + 1; n < first + count; ++n) {
    const uint32_t before = nodes[n - 1].output;
    if (!nodes[n].is_needed || nodes[n].inputs[0] != before || uses[before] != 1) return 0;
  }
  const XnnNode &node = nodes[first + count / 2], &back = nodes[first + count - 1];
  if (!is_convolution(node, values) || !is_turn(back, true)) return 0;
  if (has_reshapes && nodes[first + 3].content_type != NodeContent::Reshape) return 0;

  const WindowShape shape = window_shape(node, values);
  const Shape &in = input(nodes[first], values).shape, &out = values[back.output].shape;
  if (!has_planes(node, values, shape, in, out)) return 0;
  const Groups group = groups_of(node);
  const uint64_t products = element_count(out) * static_cast<uint64_t>(terms_of(shape, group));
  return products >= kLeastProducts && is_better(shape, group) ? count : 0;
}

uint64_t PlaneConvolutionStage::extra_bytes(const Subgraph& graph, size_t first, size_t count) {
  const XnnNode& node = graph.nodes()[first + count / 2];
  return element_count(input(node, graph.values(), 1).shape) * sizeof(float);
}

Status PlaneConvolutionStage::build(const Subgraph& graph, size_t first, size_t count,
                                    pthreadpool_t pool) {
  const Span<const XnnValue> values = graph.values();
  node_ = &graph.nodes()[first + count / 2];
  input_ = graph.nodes()[first].inputs[0];
  output_ = graph.nodes()[first + count - 1].output;
  threads_ = thread_pool_of(pool);
  const auto floats = static_cast<int64_t>(element_count(input(*node_, values, 1).shape));
  TAPER_TRY(make_filters(floats, filter_));
  copy_filter(*node_, values, filter_.get());
  const auto& t = node_->as<wire::Convolution>();
  conv_.groups = t.groups();
  const int64_t height = t.kernel_height(), width = t.kernel_width(), taps = height * width;
  conv_.weight = {
      filter_.get(), t.group_input_channels() * taps, taps, {1, height, width}, {taps, width, 1}};
  conv_.stride[0] = conv_.dilation[0] = 1;
  conv_.stride[1] = t.stride_height();
  conv_.stride[2] = t.stride_width();
  conv_.dilation[1] = t.dilation_height();
  conv_.dilation[2] = t.dilation_width();
  conv_.padding[1] = t.padding_top();
  conv_.padding[2] = t.padding_left();
  if (node_->inputs[2] == kNone) return {};
  const XnnValue& bias = input(*node_, values, 2);
  bias_size_ = static_cast<int32_t>(element_count(bias.shape));
  bias_ = Tensor(ScalarType::kFloat, 1, &bias_size_, &bias_dim_, &bias_stride_,
                 const_cast<float*>(floats_of(bias)));
  conv_.bias = &bias_;
  return {};
}

Status PlaneConvolutionStage::reshape(Span<const XnnValue> values) {
  const Shape &in = values[input_].shape, &out = values[output_].shape;
  WindowShape shape = window_shape(*node_, values);
  TAPER_XNNPACK_REQUIRE(
      has_planes(*node_, values, shape, in, out),
      "the images of a convolution are not those it had when the graph was loaded");
  if (is_pointwise(shape)) {
    shape.height = shape.out_height = 1;
    shape.width = shape.out_width = static_cast<int64_t>(area_of(in));
  }
  conv_.batch = in.dims[0];
  conv_.in = image_of(in.dims[1], shape.height, shape.width);
  conv_.out = image_of(out.dims[1], shape.out_height, shape.out_width);
  return {};
}

bool PlaneConvolutionStage::has_single_channels() const {
  return conv_.group_in() == 1 && conv_.groups > 1;
}

uint64_t PlaneConvolutionStage::scratch_bytes() const {
  if (has_single_channels()) return 0;
  return std::max(1u, threads_.threads) * sizeof(float) *
         static_cast<uint64_t>(optimized::kGemmScratchFloats);
}

Status PlaneConvolutionStage::bind(Span<void* const> places, void* scratch) {
  conv_.in.data = places[input_];
  conv_.out.data = places[output_];
  scratch_ = {static_cast<unsigned char*>(scratch), static_cast<size_t>(scratch_bytes())};
  return {};
}

Status PlaneConvolutionStage::run() {
  const optimized::Bounds bounds = {node_->min, node_->max};
  KernelContext context(scratch_, threads_);
  if (conv_.in.positions() == 0 || conv_.batch == 0) return {};
  bool is_done;
  if (has_single_channels()) {
    is_done = optimized::convolve_planes(conv_, bounds, threads_);
  } else {
    is_done = optimized::convolve_direct(conv_, bounds, context) ||
              optimized::convolve_dense(conv_, bounds, context);
  }
  TAPER_REQUIRE(is_done, Error::kInternal, "a convolution has no kernel for this processor");
  return {};
}

}  // namespace taper::xnnpack
