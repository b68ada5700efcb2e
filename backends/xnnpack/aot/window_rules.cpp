// The rules for windows over images: convolutions, pools, resizes. All of them need channels last.
// A signal [n, c, l] is an image of height 1; volume.h says which images a volume is.

#include <algorithm>
#include <cstring>

#include "backends/xnnpack/aot/op_table.h"
#include "backends/xnnpack/aot/patches.h"
#include "backends/xnnpack/aot/volume.h"
#include "backends/xnnpack/depthwise_windows.h"
#include "exir/ir/scales.h"

namespace taper::xnnpack {
namespace {

using exir::Node;
using exir::Sym;
using exir::Value;
using wire::NodeContent;

bool is_static_image(const Value* value) {
  return value->type.rank() == 4 && value->type.sizes[2].is_int() && value->type.sizes[3].is_int();
}

uint32_t u32(int64_t value) { return static_cast<uint32_t>(value); }

// The constant weights of a convolution, [a, b, depth, height, width], whose sizes are known. Only
// those of a volume whose slices are images have a depth.
struct Filter {
  exir::TensorData elements;
  const float* data;
  std::shared_ptr<const exir::Scales> integers;
  int64_t a, b, height, width;
  int64_t depth = 1;

  Filter(const Value* weight, Volume volume)
      : elements(exir::elements_of(*weight)),
        data(reinterpret_cast<const float*>(elements.data)),
        integers(exir::bytes_of(*weight)),
        a(weight->type.sizes[0].as_int()),
        b(weight->type.sizes[1].as_int()),
        height(weight->type.rank() > 3 ? weight->type.sizes.end()[-2].as_int() : 1),
        width(weight->type.sizes.back().as_int()) {
    if (volume == Volume::kSlices) depth = weight->type.sizes[2].as_int();
    if (volume == Volume::kColumns) height = weight->type.sizes[2].as_int();
  }
  size_t at(int64_t i, int64_t j, int64_t slice, int64_t h, int64_t w) const {
    return static_cast<size_t>((((i * b + j) * depth + slice) * height + h) * width + w);
  }
};

// Collects the elements of a filter in a new layout.
class FilterBytes {
 public:
  FilterBytes(const Filter& filter, size_t most) : filter_(filter), bytes_(most * sizeof(float)) {}
  void add(size_t at) {
    std::memcpy(bytes_.data() + used_, &filter_.data[at], sizeof(float));
    used_ += sizeof(float);
    if (filter_.integers != nullptr) order_.push_back(at);
  }
  Id finish(Lowering& l, Dims dims) {
    bytes_.resize(used_);
    return l.out().add_constant(
        std::move(dims), exir::own_bytes(std::move(bytes_)),
        order_.empty() ? nullptr : exir::reordered(*filter_.integers, order_));
  }

 private:
  const Filter& filter_;
  std::vector<uint8_t> bytes_;
  size_t used_ = 0;
  std::vector<size_t> order_;
};

// Converts the filter to [out, height, width, in per group], slice by slice.
Id dense_filter(Lowering& l, const Filter& f) {
  const int64_t in = f.depth * f.b;
  FilterBytes bytes(f, static_cast<size_t>(f.a * in * f.height * f.width));
  for (int64_t o = 0; o < f.a; ++o) {
    for (int64_t h = 0; h < f.height; ++h) {
      for (int64_t w = 0; w < f.width; ++w) {
        for (int64_t i = 0; i < in; ++i) bytes.add(f.at(o, i % f.b, i / f.b, h, w));
      }
    }
  }
  return bytes.finish(l, {f.a, f.height, f.width, in});
}

// Converts the rows `first`, `first` + `step`, ... of a slice to [1, height, width, out].
Id depthwise_filter(Lowering& l, const Filter& f, int64_t slice, int64_t first, int64_t step) {
  FilterBytes bytes(f, static_cast<size_t>(f.a * f.height * f.width));
  int64_t rows = 0;
  for (int64_t h = first; h < f.height; h += step, ++rows) {
    for (int64_t w = 0; w < f.width; ++w) {
      for (int64_t o = 0; o < f.a; ++o) bytes.add(f.at(o, 0, slice, h, w));
    }
  }
  return bytes.finish(l, {1, rows, f.width, f.a});
}

// Converts [in, out per group, depth, height, width] to [out, height, width, in per group]: the
// slices of `phases`, which are the outer dimension of out, and the outer one of in.
Id transposed_filter(Lowering& l, const Filter& f, int64_t groups, const Phases& phases) {
  const int64_t in = f.a / groups, out = groups * f.b;
  FilterBytes bytes(
      f, static_cast<size_t>(phases.count * phases.taps * f.a * f.b * f.height * f.width));
  for (int64_t each = 0; each < phases.count * out; ++each) {
    const int64_t o = each % out, first = phases.first + each / out;
    for (int64_t hw = 0; hw < f.height * f.width; ++hw) {
      for (int64_t t = 0; t < phases.taps * in; ++t) {
        const int64_t slice = first + t / in * phases.stride, i = o / f.b * in + t % in;
        bytes.add(f.at(i, o % f.b, slice, hw / f.width, hw % f.width));
      }
    }
  }
  return bytes.finish(l, {phases.count * out, f.height, f.width, phases.taps * in});
}

// The scales of the output channels of a transposed filter; null if one of them has several.
std::shared_ptr<const exir::Scales> transposed_scales(const Value* weight, const Filter& f,
                                                      int64_t groups, const Phases& phases) {
  const bool by_out = has_scales(weight, 1), by_in = f.a == groups && has_scales(weight, 0);
  if (!by_out && !by_in) return nullptr;
  auto scales = std::make_shared<exir::Scales>(*weight->scales);
  if (scales->items.size() == 1) return scales;
  scales->items.clear();
  for (int64_t o = 0; o < phases.count * groups * f.b; ++o) {
    const int64_t item = by_out ? o % f.b : o / f.b;
    scales->items.push_back(weight->scales->items[static_cast<size_t>(item)]);
  }
  return scales;
}

// Sets the numbers for height and width; a signal has `one` for its height, and columns of a volume
// for their width.
void spread(const std::vector<int64_t>& items, int64_t one, Volume volume, uint32_t out[2]) {
  const bool is_column = volume == Volume::kColumns;
  out[0] = u32(items.size() == 1 ? one : is_column ? items[0] : items.end()[-2]);
  out[1] = u32(is_column ? one : items.back());
}

Window convolution_window(const Node& node, const Filter& f, Volume volume) {
  const size_t dims = tensor(node)->type.rank() - 2;
  Window w;
  uint32_t padding[2];
  spread(ints_of(node.arg("stride"), dims), 1, volume, w.stride);
  spread(ints_of(node.arg("padding"), dims), 0, volume, padding);
  spread(ints_of(node.arg("dilation"), dims), 1, volume, w.dilation);
  spread(ints_of(node.arg("output_padding"), dims), 0, volume, w.adjustment);
  w.kernel[0] = u32(f.height);
  w.kernel[1] = u32(f.width);
  w.padding[0] = w.padding[2] = padding[0];
  w.padding[1] = w.padding[3] = padding[1];
  w.groups = u32(node.arg("groups").to_int());
  return w;
}

// Whether the device computes this window whole, even if all dynamic sizes of the result are 1.
bool is_stage(const Filter& f, const Window& w, const Dims& result) {
  uint64_t results = 1;
  for (const Sym& size : result) {
    if (size.is_int()) results *= static_cast<uint64_t>(size.as_int());
  }
  return is_depthwise_stage(
      {f.height, f.width, w.stride[0], w.stride[1], w.dilation[0], w.dilation[1], w.group_out},
      results);
}

// The number of parts in which a depthwise filter is applied. Part p has every n-th row from row p
// on.
int64_t depthwise_parts(const Filter& f, const Window& w, bool is_whole) {
  if (is_whole || f.height * f.width <= kMostXnnpackTaps || f.width > kMostXnnpackTaps) return 1;
  const int64_t rows = kMostXnnpackTaps / f.width;
  const int64_t parts = (f.height + rows - 1) / rows;
  // The rows of a part start and end within the padding.
  const int64_t reach = (parts - 1) * w.dilation[0];
  return reach <= w.padding[0] && reach <= w.padding[2] ? parts : 1;
}

// Splits a large depthwise filter into a sum of smaller ones, whose rows are further apart.
Id depthwise(Lowering& l, const NodeSpec& whole, const Filter& f, int64_t slice, const Dims& dims,
             const std::shared_ptr<const exir::Scales>& made_from) {
  const bool is_whole =
      !l.for_executorch() && made_from == nullptr && is_stage(f, whole.window, dims);
  const int64_t parts = depthwise_parts(f, whole.window, is_whole);
  Id sum = kNone;
  for (int64_t part = 0; part < parts; ++part) {
    NodeSpec spec = whole;
    spec.inputs[1] = depthwise_filter(l, f, slice, part, parts);
    l.out().set_made_from(spec.inputs[1], made_from);
    if (part > 0) spec.inputs[2] = kNone;
    const int64_t rows = l.out().dims(spec.inputs[1])[1].as_int();
    const int64_t after = f.height - 1 - (part + (rows - 1) * parts);
    Window& w = spec.window;
    w.kernel[0] = u32(rows);
    w.padding[0] -= u32(part) * w.dilation[0];
    w.padding[2] -= u32(after) * w.dilation[0];
    if (rows > 1) w.dilation[0] *= u32(parts);
    const Id y = l.out().add(std::move(spec), dims);
    sum = part == 0 ? y : l.binary(NodeContent::Add, sum, y);
  }
  return sum;
}

// The images that a convolution reads, of which there are several if it is depthwise, one for each
// slice of the window, and the sizes of those that it writes.
struct Images {
  std::vector<Id> in;
  Dims out;
};

Images images_of(Lowering& l, const Node& node, Volume volume, int64_t channels) {
  const Value *x = tensor(node), *y = node.outputs[0];
  const Dims& out = y->type.sizes;
  const Id image = l.image(x);
  if (volume != Volume::kNone) {
    return {volume_images(l, node, image, volume), volume_sizes(node, volume)};
  }
  if (x->type.rank() == 4) return {{image}, {out[0], out[2], out[3], channels}};
  const Dims& flat = l.out().dims(image);
  if (flat.size() == 4) return {{image}, {out[0], 1, out[2], channels}};  // Quantised as such.
  return {{l.reshape(image, {flat[0], 1, flat[1], flat[2]})}, {out[0], 1, out[2], channels}};
}

// Sums the depthwise convolutions of the slices.
Id depthwise_slices(Lowering& l, NodeSpec& spec, const Filter& f, const Images& images,
                    const std::shared_ptr<const exir::Scales>& made_from) {
  Id sum = kNone;
  for (size_t slice = 0; slice < images.in.size(); ++slice) {
    spec.inputs[0] = images.in[slice];
    if (slice > 0) spec.inputs[2] = kNone;
    const Id y = depthwise(l, spec, f, static_cast<int64_t>(slice), images.out, made_from);
    sum = slice == 0 ? y : l.binary(NodeContent::Add, sum, y);
  }
  return sum;
}

// The bias, once for each of the slices that are made at a time.
Id bias_of(Lowering& l, const Node& node, int64_t slices) {
  const exir::Argument& bias = node.arg("bias");
  if (bias.is_none()) return kNone;
  if (slices == 1) return l.weights(bias.value());
  const exir::TensorData elements = exir::elements_of(*bias.value());
  const auto* floats = reinterpret_cast<const float*>(elements.data);
  const size_t count = elements.bytes / sizeof(float);
  std::vector<float> repeated;
  for (int64_t i = 0; i < slices; ++i) repeated.insert(repeated.end(), floats, floats + count);
  return l.constant({static_cast<int64_t>(repeated.size())}, repeated);
}

// A transposed convolution of a volume makes the slices of each run of phases by one of images.
void transposed_volume(Lowering& l, const Node& node, const Filter& f) {
  const Value* weight = tensor(node, "weight");
  const std::vector<Id> slices = volume_images(l, node, l.image(tensor(node)), Volume::kSlices);
  std::vector<Id> made;
  for (const Phases& phases : Depth(node).phases()) {
    NodeSpec spec;
    spec.kind = NodeContent::ConvTranspose2d;
    spec.window = convolution_window(node, f, Volume::kSlices);
    spec.window.group_in = u32(phases.taps * f.a);
    spec.window.group_out = u32(phases.count * f.b);
    const Id weights = transposed_filter(l, f, 1, phases);
    l.out().set_made_from(weights, transposed_scales(weight, f, 1, phases));
    const Id read = l.concatenated({slices.begin(), slices.begin() + phases.taps}, 3);
    spec.inputs = {read, weights, bias_of(l, node, phases.count)};
    Dims dims = volume_sizes(node, Volume::kSlices);
    dims[3] = phases.count * f.b;
    made.push_back(l.out().add(std::move(spec), std::move(dims)));
  }
  l.set_image(node.outputs[0], volume_of_images(l, node, l.concatenated(made, 3)));
}

void convolution(Lowering& l, const Node& node) {
  const Value *x = tensor(node), *y = node.outputs[0];
  const Volume volume = volume_of(node);
  const bool transposed = node.arg("transposed").to_bool();
  const Filter filter(tensor(node, "weight"), volume);
  if (transposed && volume != Volume::kNone) return transposed_volume(l, node, filter);
  NodeSpec spec;
  spec.window = convolution_window(node, filter, volume);
  Window& w = spec.window;
  const int64_t out = transposed ? filter.b * w.groups : filter.a;
  const bool is_depthwise = !transposed && is_depthwise_filter(node);
  const int64_t in = transposed     ? filter.a
                     : is_depthwise ? w.groups
                                    : filter.depth * filter.b * w.groups;
  w.group_in = u32(in / w.groups);
  w.group_out = u32(out / w.groups);
  if (!transposed) {
    const Id rows = patch_rows(l, node, w);
    if (rows != kNone) return l.set_image(y, rows);
  }
  Id weights = kNone;
  if (transposed) {
    spec.kind = NodeContent::ConvTranspose2d;
    weights = transposed_filter(l, filter, w.groups, {});
  } else if (is_depthwise) {
    spec.kind = NodeContent::DepthwiseConv2d;
  } else {
    spec.kind = NodeContent::Conv2d;
    weights = dense_filter(l, filter);
  }
  const Value* weight = tensor(node, "weight");
  const std::shared_ptr<const exir::Scales> made_from =
      transposed              ? transposed_scales(weight, filter, w.groups, {})
      : has_scales(weight, 0) ? weight->scales
                              : nullptr;
  if (weights != kNone) l.out().set_made_from(weights, made_from);
  const Images images = images_of(l, node, volume, out);
  spec.inputs = {images.in[0], weights, bias_of(l, node, 1)};
  Id result = is_depthwise ? depthwise_slices(l, spec, filter, images, made_from)
                           : l.out().add(std::move(spec), images.out);
  const Dims& sizes = y->type.sizes;
  if (x->type.rank() == 3) result = l.reshape(result, {sizes[0], sizes[2], sizes[1]});
  if (volume != Volume::kNone) result = volume_of_images(l, node, result);
  l.set_image(y, result);
}

std::string convolution_refusal(const Node& node) {
  const size_t rank = tensor(node)->type.rank();
  if (rank < 3 || rank > 5) return "the input is not a signal, an image or a volume";
  if (!is_constant(tensor(node, "weight"))) return "the weights are not constant";
  const exir::Argument& bias = node.arg("bias");
  if (!bias.is_none() && !is_constant(bias.value())) return "the bias is not constant";
  for (const char* name : {"stride", "padding", "dilation", "output_padding"}) {
    for (const int64_t item : ints_of(node.arg(name), rank - 2)) {
      if (item < 0) return "a padding is negative";
    }
  }
  return rank == 5 ? volume_refusal(node) : "";
}

// ---- pools ----

struct Pool {
  std::vector<int64_t> kernel, stride, padding, dilation = {1, 1};
  bool ceil = false;
};

Pool pool_of(const Node& node) {
  Pool p;
  p.kernel = ints_of(node.arg("kernel_size"), 2);
  const exir::Argument& stride = node.arg("stride");
  const bool given = !stride.is_none() && !(stride.is_list() && stride.list().empty());
  p.stride = given ? ints_of(stride, 2) : p.kernel;
  p.padding = ints_of(node.arg("padding"), 2);
  if (node.schema->find("dilation") >= 0) p.dilation = ints_of(node.arg("dilation"), 2);
  p.ceil = node.arg("ceil_mode").to_bool();
  return p;
}

// By how many rows or columns the last window extends past the padded end if sizes are rounded up.
int64_t overhang(const Pool& p, const Node& node, size_t d) {
  const int64_t in = tensor(node)->type.sizes[2 + d].as_int();
  const int64_t out = node.outputs[0]->type.sizes[2 + d].as_int();
  const int64_t reach = (out - 1) * p.stride[d] + p.dilation[d] * (p.kernel[d] - 1) + 1;
  return reach - (in + 2 * p.padding[d]);
}

bool is_pixel(const Pool& p) { return p.kernel[0] * p.kernel[1] == 1; }

std::string pool_refusal(const Node& node) {
  if (tensor(node)->type.rank() != 4) return "the input is not an image of rank 4";
  const Pool p = pool_of(node);
  if (is_pixel(p)) {
    const bool plain = p.padding[0] + p.padding[1] == 0 && is_static_image(tensor(node));
    return plain ? "" : "the window is a single pixel, and the image is padded or of dynamic size";
  }
  for (size_t d = 0; d < 2; ++d) {
    if (p.stride[d] > p.kernel[d]) return "the stride is larger than the window";
  }
  if (p.ceil && !is_static_image(tensor(node))) return "sizes are rounded up and dynamic";
  return "";
}

// For some kinds XNNPACK keeps where pixels lie as long as the image has the same height and width.
std::string channels_refusal(const Node& node) {
  return tensor(node)->type.sizes[1].is_int() ? "" : "the number of channels is dynamic";
}

std::string max_pool_refusal(const Node& node) {
  const std::string why = pool_refusal(node);
  return why.empty() ? channels_refusal(node) : why;
}

Id pool(Lowering& l, const Node& node, NodeContent kind, Id x, const Pool& p) {
  NodeSpec spec;
  spec.kind = kind;
  spec.inputs = {x};
  Window& w = spec.window;
  for (size_t d = 0; d < 2; ++d) {
    w.kernel[d] = u32(p.kernel[d]);
    w.stride[d] = u32(p.stride[d]);
    w.dilation[d] = u32(p.dilation[d]);
    const int64_t more = p.ceil ? std::max<int64_t>(0, overhang(p, node, d)) : 0;
    w.padding[d == 0 ? 0 : 3] = u32(p.padding[d]);
    w.padding[d == 0 ? 2 : 1] = u32(p.padding[d] + more);
  }
  const Dims& y = node.outputs[0]->type.sizes;
  return l.out().add(std::move(spec), {y[0], y[2], y[3], y[1]});
}

// Takes every n-th row and column: the image is padded or cut to a multiple of the stride, and the
// first pixel of each block is kept.
Id pixels(Lowering& l, const Node& node, const Pool& p) {
  const Dims& y = node.outputs[0]->type.sizes;
  Id x = l.image(tensor(node));
  Dims dims = l.out().dims(x);
  NodeSpec pad;
  pad.kind = NodeContent::ConstantPad;
  pad.inputs = {x};
  pad.list = pad.list2 = {0, 0, 0, 0};
  for (size_t d = 0; d < 2; ++d) {
    const int64_t more = y[2 + d].as_int() * p.stride[d] - dims[1 + d].as_int();
    if (more < 0) dims[1 + d] = dims[1 + d] + more;
    if (more < 0) x = l.slice(x, 1 + d, 0, dims[1 + d].as_int());
    pad.list2[1 + d] = u32(std::max<int64_t>(0, more));
    dims[1 + d] = dims[1 + d] + std::max<int64_t>(0, more);
  }
  pad.inputs = {x};
  if (dims != l.out().dims(x)) x = l.out().add(std::move(pad), dims);
  x = l.reshape(x, {dims[0] * y[2], p.stride[0], y[3], dims[3] * p.stride[1]});
  x = l.slice(l.slice(x, 1, 0, 1), 3, 0, dims[3].as_int());
  return l.reshape(x, {dims[0], y[2], y[3], dims[3]});
}

void max_pool(Lowering& l, const Node& node) {
  const Pool p = pool_of(node);
  if (is_pixel(p)) return l.set_image(node.outputs[0], pixels(l, node, p));
  l.set_image(node.outputs[0], pool(l, node, NodeContent::MaxPool2d, l.image(tensor(node)), p));
}

// XNNPACK counts only pixels of the image; padding that counts is added to the image first.
void mean_pool(Lowering& l, const Node& node) {
  Pool p = pool_of(node);
  if (is_pixel(p)) return l.set_image(node.outputs[0], pixels(l, node, p));
  Id x = l.image(tensor(node));
  if (p.padding[0] + p.padding[1] > 0 && node.arg("count_include_pad").to_bool()) {
    const uint32_t h = u32(p.padding[0]), w = u32(p.padding[1]);
    NodeSpec pad;
    pad.kind = NodeContent::ConstantPad;
    pad.inputs = {x};
    pad.list = pad.list2 = {0, h, w, 0};
    Dims dims = l.out().dims(x);
    dims[1] = dims[1] + 2 * p.padding[0];
    dims[2] = dims[2] + 2 * p.padding[1];
    x = l.out().add(std::move(pad), std::move(dims));
    p.padding = {0, 0};
    p.ceil = false;  // mean_pool_refusal checks that no window extends further.
  }
  l.set_image(node.outputs[0], pool(l, node, NodeContent::AvgPool2d, x, p));
}
std::string mean_pool_refusal(const Node& node) {
  std::string why = pool_refusal(node);
  if (!why.empty()) return why;
  const Pool p = pool_of(node);
  if (!node.arg("divisor_override").is_none()) return "it overrides the divisor";
  const bool over = p.ceil && (overhang(p, node, 0) > 0 || overhang(p, node, 1) > 0);
  return over && node.arg("count_include_pad").to_bool() && p.padding[0] + p.padding[1] > 0
             ? "a window extends past the padding"
             : "";
}

constexpr int64_t kMostPieces = 64;  // The most rows and columns of windows of different sizes.

// Computes the means of windows of different sizes: window `to` begins at in * to / out, rounded
// down, and ends at in * (to + 1) / out, rounded up.
Id mean_of_windows(Lowering& l, Id x, size_t dim, int64_t out) {
  const int64_t in = l.out().dims(x)[dim].as_int();
  std::vector<Id> means;
  for (int64_t to = 0; to < out; ++to) {
    const int64_t begin = in * to / out, end = (in * (to + 1) + out - 1) / out;
    means.push_back(l.mean(l.slice(x, dim, begin, end - begin), {dim}));
  }
  return l.concatenated(means, dim);
}

void adaptive_mean(Lowering& l, const Node& node) {
  const Value *x = tensor(node), *y = node.outputs[0];
  const std::vector<int64_t> size = ints_of(node.arg(1), 2);
  const Id image = l.image(x);
  if (size[0] == 1 && size[1] == 1) return l.set_image(y, l.mean(image, {1, 2}));
  const int64_t h = x->type.sizes[2].as_int(), w = x->type.sizes[3].as_int();
  if (h == size[0] && w == size[1]) return l.set_image(y, image);
  if (h % size[0] != 0 || w % size[1] != 0) {
    return l.set_image(y, mean_of_windows(l, mean_of_windows(l, image, 1, size[0]), 2, size[1]));
  }
  Pool p;
  p.kernel = {h / size[0], w / size[1]};
  p.stride = p.kernel;
  p.padding = {0, 0};
  l.set_image(y, pool(l, node, NodeContent::AvgPool2d, image, p));
}
std::string adaptive_mean_refusal(const Node& node) {
  const Value* x = tensor(node);
  if (x->type.rank() != 4) return "the input is not an image of rank 4";
  const std::vector<int64_t> size = ints_of(node.arg(1), 2);
  if (size[0] == 1 && size[1] == 1) return "";
  return !is_static_image(x)               ? "the size of the image is dynamic"
         : size[0] + size[1] > kMostPieces ? "it has too many windows of different sizes"
                                           : "";
}

// ---- resize ----

// Repeats pixels, then rows.
void nearest(Lowering& l, const Node& node) {
  const Dims& y = node.outputs[0]->type.sizes;
  const Id x = l.image(tensor(node));
  const Dims in = l.out().dims(x);
  const int64_t down = y[2].as_int() / in[1].as_int(), across = y[3].as_int() / in[2].as_int();
  Id id = l.reshape(l.copies(l.reshape(x, {in[0] * in[1] * in[2], in[3]}), 1, across),
                    {in[0] * in[1], y[3] * in[3]});
  id = l.copies(id, 1, down);
  l.set_image(node.outputs[0], l.reshape(id, {y[0], y[2], y[3], y[1]}));
}
std::string nearest_refusal(const Node& node) {
  const Value *x = tensor(node), *y = node.outputs[0];
  if (!is_static_image(x) || !is_static_image(y)) return "the size of the image is dynamic";
  // Like the kernels, finds the source of a pixel by a float product with the inverse of the
  // factor.
  const exir::Argument& factors = node.arg("scale_factors");
  for (size_t d = 0; d < 2; ++d) {
    const int64_t in = x->type.sizes[2 + d].as_int(), out = y->type.sizes[2 + d].as_int();
    if (out % in != 0) return "its scale factors are not integers";
    const auto ratio = static_cast<float>(in) / static_cast<float>(out);
    const float scale =
        factors.is_none() ? ratio : static_cast<float>(1 / factors.list().at(d).to_double());
    for (int64_t to = 0; to < out; ++to) {
      const auto from = static_cast<int64_t>(static_cast<float>(to) * scale);
      if (std::min(from, in - 1) != to / (out / in)) return "its scale factors are not integers";
    }
  }
  return "";
}

void bilinear(Lowering& l, const Node& node) {
  const Dims& y = node.outputs[0]->type.sizes;
  NodeSpec spec;
  spec.kind = NodeContent::ResizeBilinear;
  spec.inputs = {l.image(tensor(node))};
  spec.list = {u32(y[2].as_int()), u32(y[3].as_int())};
  spec.flags = node.arg("align_corners").to_bool() ? 8 : 0;
  l.set_image(node.outputs[0], l.out().add(std::move(spec), {y[0], y[2], y[3], y[1]}));
}
// PyTorch uses the given factors; XNNPACK always uses the ratio of the sizes.
std::string bilinear_refusal(const Node& node) {
  const Value *x = tensor(node), *y = node.outputs[0];
  if (!is_static_image(x) || !is_static_image(y)) return "the size of the image is dynamic";
  if (std::string why = channels_refusal(node); !why.empty()) return why;
  const exir::Argument& factors = node.arg("scale_factors");
  if (factors.is_none() || node.arg("align_corners").to_bool()) return "";
  for (size_t d = 0; d < 2; ++d) {
    const double factor = factors.list().at(d).to_double();
    const auto in = static_cast<double>(x->type.sizes[2 + d].as_int());
    const auto out = static_cast<double>(y->type.sizes[2 + d].as_int());
    if (in * factor != out) return "its scale factors are not the ratio of the sizes";
  }
  return "";
}

constexpr OpRule kTable[] = {
    {"aten::convolution", convolution_refusal, convolution, 2},
    {"aten::max_pool2d_with_indices", max_pool_refusal, max_pool, 2, true},
    {"aten::avg_pool2d", mean_pool_refusal, mean_pool, 2},
    {"aten::_adaptive_avg_pool2d", adaptive_mean_refusal, adaptive_mean, 2},
    {"aten::upsample_nearest2d.vec", nearest_refusal, nearest, 1},
    {"aten::upsample_bilinear2d.vec", bilinear_refusal, bilinear, 2},
};

}  // namespace

const std::span<const OpRule> kWindowRules{kTable};

}  // namespace taper::xnnpack
