// Rewrites convolutions of images with few channels; see merge_pixels.h.

#include "backends/xnnpack/aot/merge_pixels.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace taper::xnnpack {
namespace {

using wire::DataType;
using wire::NodeContent;

constexpr int64_t kPixels = 4;  // The pixels that become one.
constexpr int64_t kMostChannels = 4;

// Rounds down, also below 0.
int64_t quotient(int64_t a, int64_t b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

// How the places of a row are computed together.
struct Merge {
  int64_t places = 1;           // Results of one window.
  int64_t taps = 1;             // In merged pixels.
  int64_t first = 0;            // The first merged pixel of a window, from that of its place.
  int64_t left = 0, right = 0;  // Padding in merged pixels.
};

class PixelMerger {
 public:
  explicit PixelMerger(NodeList& list) : list_(list) {}

  void run() {
    std::vector<NodeSpec> old;
    old.swap(list_.nodes);
    for (NodeSpec& node : old) {
      const std::optional<Merge> merge = merge_of(node);
      if (merge) {
        rewrite(std::move(node), *merge);
      } else {
        append(std::move(node));
      }
    }
  }

 private:
  const ValueSpec& value(Id id) const { return list_.values[id]; }

  void append(NodeSpec node) {
    list_.values[node.output].maker = static_cast<int64_t>(list_.nodes.size());
    list_.nodes.push_back(std::move(node));
  }

  bool is_bytes(Id id) const {
    const DataType type = value(id).quantization.type;
    return type == DataType::QINT8 || type == DataType::QCINT8;
  }

  std::optional<Merge> merge_of(const NodeSpec& node) const {
    const Window& w = node.window;
    if (node.kind != NodeContent::Conv2d || w.groups != 1 || w.group_in > kMostChannels) return {};
    if (!is_bytes(node.inputs[0]) || !is_bytes(node.inputs[1]) || !is_bytes(node.output)) return {};
    const Dims &in = value(node.inputs[0]).dims, &out = value(node.output).dims;
    const auto is_known = [](const exir::Sym& size) { return size.is_int(); };
    if (!std::all_of(in.begin(), in.end(), is_known) || w.dilation[1] != 1) return {};
    const int64_t step = w.stride[1], kernel = w.kernel[1], padding = w.padding[3];
    if (kernel == 1 || kPixels % step != 0 || in[2].as_int() % kPixels != 0) return {};
    Merge merge;
    merge.places = kPixels / step;
    if (merge.places == 1 || out[2].as_int() % merge.places != 0) return {};
    merge.first = quotient(-padding, kPixels);
    merge.left = -merge.first;
    const int64_t last = quotient(step * (merge.places - 1) - padding + kernel - 1, kPixels);
    merge.taps = last - merge.first + 1;
    const int64_t windows = out[2].as_int() / merge.places;
    merge.right = windows - 1 + merge.taps - in[2].as_int() / kPixels - merge.left;
    return merge.right >= 0 ? std::optional<Merge>(merge) : std::nullopt;
  }

  // A value of the same numbers as `id` with other sizes.
  Id resized(Id id, const Dims& dims) {
    ValueSpec made;
    made.dims = dims;
    made.quantization = value(id).quantization;
    list_.values.push_back(std::move(made));
    return static_cast<Id>(list_.values.size()) - 1;
  }

  NodeSpec reshape(Id from, Id to, uint32_t origin) {
    NodeSpec node;
    node.kind = NodeContent::Reshape;
    node.inputs = {from};
    node.output = to;
    node.origin = origin;
    for (const exir::Sym& size : value(to).dims) {
      node.list.push_back(static_cast<uint32_t>(size.as_int()));
    }
    return node;
  }

  void rewrite(NodeSpec node, const Merge& merge) {
    const Dims in = value(node.inputs[0]).dims, out = value(node.output).dims;
    const Id image = resized(node.inputs[0],
                             {in[0], in[1], exir::Sym(in[2].as_int() / kPixels), in[3] * kPixels});
    const Id result =
        resized(node.output,
                {out[0], out[1], exir::Sym(out[2].as_int() / merge.places), out[3] * merge.places});
    append(reshape(node.inputs[0], image, node.origin));
    NodeSpec back = reshape(result, node.output, node.origin);
    node.inputs[1] = merged_filter(node, merge);
    if (node.inputs.size() > 2 && node.inputs[2] != kNone) {
      node.inputs[2] =
          repeated(node.inputs[2], {value(node.inputs[2]).dims[0] * merge.places}, merge.places);
    }
    node.inputs[0] = image;
    node.output = result;
    Window& w = node.window;
    w.group_in *= static_cast<uint32_t>(kPixels);
    w.group_out *= static_cast<uint32_t>(merge.places);
    w.kernel[1] = static_cast<uint32_t>(merge.taps);
    w.stride[1] = 1;
    w.padding[3] = static_cast<uint32_t>(merge.left);
    w.padding[1] = static_cast<uint32_t>(merge.right);
    append(std::move(node));
    append(std::move(back));
  }

  // A constant with scales like those of `id`, one after another `times` times.
  Id with_scales_of(Id id, const Dims& dims, std::vector<uint8_t> bytes, int64_t times) {
    const Id made = list_.add_constant(dims, exir::own_bytes(std::move(bytes)));
    Quantization how = value(id).quantization;
    const std::vector<float> scales = how.scales;
    for (int64_t i = 1; i < times; ++i) {
      how.scales.insert(how.scales.end(), scales.begin(), scales.end());
    }
    list_.values[made].quantization = std::move(how);
    return made;
  }

  Id repeated(Id id, const Dims& dims, int64_t times) {
    const exir::TensorData data = list_.data(id);
    std::vector<uint8_t> bytes;
    for (int64_t i = 0; i < times; ++i)
      bytes.insert(bytes.end(), data.data, data.data + data.bytes);
    return with_scales_of(id, dims, std::move(bytes), times);
  }

  // The rows of the filter for each place in turn, [places * out, height, taps, pixels * in].
  Id merged_filter(const NodeSpec& node, const Merge& merge) {
    const Id id = node.inputs[1];
    const exir::TensorData data = list_.data(id);
    const Window& w = node.window;
    const int64_t height = w.kernel[0], width = w.kernel[1], channels = w.group_in;
    const int64_t outs = w.group_out, step = w.stride[1], padding = w.padding[3];
    const int64_t row = merge.taps * kPixels;  // Pixels.
    const auto size = static_cast<size_t>(merge.places * outs * height * row * channels);
    std::vector<uint8_t> bytes(size);
    for (int64_t place = 0; place < merge.places; ++place) {
      // Where the first pixel of the filter is among those of the window.
      const int64_t begin = step * place - padding - merge.first * kPixels;
      for (int64_t line = 0; line < outs * height; ++line) {
        const int64_t to = (place * outs * height + line) * row + begin;
        std::memcpy(&bytes[static_cast<size_t>(to * channels)], data.data + line * width * channels,
                    static_cast<size_t>(width * channels));
      }
    }
    const Dims dims = {exir::Sym(merge.places * outs), exir::Sym(height), exir::Sym(merge.taps),
                       exir::Sym(kPixels * channels)};
    return with_scales_of(id, dims, std::move(bytes), merge.places);
  }

  NodeList& list_;
};

}  // namespace

void merge_pixels(NodeList& list) { PixelMerger(list).run(); }

}  // namespace taper::xnnpack
