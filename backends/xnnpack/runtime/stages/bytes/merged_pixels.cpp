// Finds the plain window in a merged one, and checks that nothing else is there; see
// merged_pixels.h.

#include "backends/xnnpack/runtime/stages/bytes/merged_pixels.h"

#include <algorithm>
#include <cstring>

#include "backends/xnnpack/runtime/graph/node_kinds.h"
#include "backends/xnnpack/runtime/graph/window_shape.h"
#include "backends/xnnpack/runtime/stages/bytes/byte_layer.h"
#include "backends/xnnpack/runtime/stages/make_array.h"

namespace taper::xnnpack {
namespace {

bool is_image(const Shape& shape) { return shape.rank == 4; }

// How many pixels of `plain` are one of `merged`: those of a row that lie side by side. 0: the
// shapes are not such.
int64_t merged_count(const Shape& plain, const Shape& merged) {
  if (!is_image(plain) || !is_image(merged) || merged.dims[2] == 0) return 0;
  const uint32_t count = plain.dims[2] / merged.dims[2];
  const bool is_merged = plain.dims[0] == merged.dims[0] && plain.dims[1] == merged.dims[1] &&
                         plain.dims[2] == count * merged.dims[2] &&
                         uint64_t{plain.dims[3]} * count == merged.dims[3];
  return is_merged ? count : 0;
}

int64_t pixels_of(const MergedPixels& m, Span<const XnnValue> values) {
  return merged_count(values[m.before->inputs[0]].shape, input(*m.convolution, values).shape);
}

int64_t places_of(const MergedPixels& m, Span<const XnnValue> values) {
  return merged_count(values[m.after->output].shape, values[m.convolution->output].shape);
}

// The filter of a merged convolution: for each place, output channel and line of the window a row
// of pixels.
struct MergedFilter {
  const int8_t* data;
  int64_t places, outs, lines, row, channels;  // `row`: in pixels.

  MergedFilter(const MergedPixels& m, Span<const XnnValue> values)
      : data(filter_of(*m.convolution, values)) {
    const Shape& plain = values[m.after->output].shape;
    const Shape& image = values[m.before->inputs[0]].shape;
    const Shape& filter = input(*m.convolution, values, 1).shape;
    channels = image.dims[3];
    outs = plain.dims[3];
    places = m.places;
    lines = filter.dims[1];
    row = int64_t{filter.dims[2]} * filter.dims[3] / channels;
  }

  // Rows of all output channels and lines of a place.
  int64_t rows() const { return outs * lines; }
  const int8_t* pixels(int64_t place, int64_t line) const {
    return data + (place * rows() + line) * row * channels;
  }
  // Whether pixels [begin, end) of a row are 0.
  bool is_empty(const int8_t* pixels, int64_t begin, int64_t end) const {
    return std::all_of(pixels + begin * channels, pixels + end * channels,
                       [](int8_t weight) { return weight == 0; });
  }
};

// Finds the columns that the first place reads; false if there are none.
bool find_window(const MergedFilter& filter, MergedPixels& m) {
  const auto is_unused = [&](int64_t column) {
    for (int64_t line = 0; line < filter.rows(); ++line) {
      if (!filter.is_empty(filter.pixels(0, line), column, column + 1)) return false;
    }
    return true;
  };
  int64_t end = filter.row;
  while (end > 0 && is_unused(end - 1)) --end;
  while (m.left < end && is_unused(m.left)) ++m.left;
  m.width = end - m.left;
  return m.width > 0;
}

// Whether each place reads the pixels of the first one, moved by `step` for each.
bool are_places_equal(const MergedFilter& filter, const MergedPixels& m, int64_t step) {
  if (m.left + m.width + step * (filter.places - 1) > filter.row) return false;
  const auto bytes = static_cast<size_t>(m.width * filter.channels);
  for (int64_t place = 0; place < filter.places; ++place) {
    const int64_t begin = m.left + step * place;
    for (int64_t line = 0; line < filter.rows(); ++line) {
      const int8_t* const pixels = filter.pixels(place, line);
      const int8_t* const first = filter.pixels(0, line) + m.left * filter.channels;
      if (!filter.is_empty(pixels, 0, begin)) return false;
      if (!filter.is_empty(pixels, begin + m.width, filter.row)) return false;
      if (std::memcmp(pixels + begin * filter.channels, first, bytes) != 0) return false;
    }
  }
  return true;
}

// Whether all places have the same scales and biases.
bool are_factors_equal(const MergedPixels& m, Span<const XnnValue> values, int64_t outs) {
  const int32_t* const bias = bias_of(*m.convolution, values);
  const int64_t all = values[m.convolution->output].shape.dims[3];
  for (int64_t o = outs; o < all; ++o) {
    if (bias != nullptr && bias[o] != bias[o % outs]) return false;
    if (factor_of(*m.convolution, values, o) != factor_of(*m.convolution, values, o % outs)) {
      return false;
    }
  }
  return true;
}

// Finds the plain window; false if there is none.
bool find_plain(MergedPixels& m, Span<const XnnValue> values) {
  m.pixels = pixels_of(m, values);
  m.places = places_of(m, values);
  if (m.pixels < 2 || m.places < 1 || m.pixels % m.places != 0) return false;
  const auto& t = m.convolution->as<wire::Convolution>();
  if (t.groups() != 1 || t.stride_width() != 1 || t.dilation_width() != 1) return false;
  const MergedFilter filter(m, values);
  if (!find_window(filter, m)) return false;
  // What lies to the left of the image is at least no part of it.
  const int64_t padding = int64_t{t.padding_left()} * m.pixels;
  m.width += std::max<int64_t>(m.left - padding, 0);
  m.left = std::min(m.left, padding);
  return are_places_equal(filter, m, m.pixels / m.places) &&
         are_factors_equal(m, values, filter.outs);
}

}  // namespace

MergedPixels merged_pixels_at(const Subgraph& graph, size_t first) {
  const XnnNode* const node = &graph.nodes()[first];
  MergedPixels m = {node, node + 1, node + 2};
  return find_plain(m, graph.values()) ? m : MergedPixels();
}

MergedPixels find_merged_pixels(const Subgraph& graph, Span<const uint32_t> uses, size_t first) {
  const Span<const XnnNode> nodes = graph.nodes();
  if (first + 3 > nodes.size()) return {};
  const XnnNode &before = nodes[first], &node = nodes[first + 1], &after = nodes[first + 2];
  const auto is = [](const XnnNode& each, wire::NodeContent kind) {
    return each.is_needed && each.kind == find_kind(kind);
  };
  if (!is(before, wire::NodeContent::Reshape) || !is(node, wire::NodeContent::Conv2d) ||
      !is(after, wire::NodeContent::Reshape) || !is_in_bytes(node, graph.values())) {
    return {};
  }
  const bool follow = node.inputs[0] == before.output && uses[before.output] == 1 &&
                      after.inputs[0] == node.output && uses[node.output] == 1;
  return follow ? merged_pixels_at(graph, first) : MergedPixels();
}

bool are_merged(const MergedPixels& m, Span<const XnnValue> values) {
  return pixels_of(m, values) == m.pixels && places_of(m, values) == m.places;
}

optimized::WindowShape plain_shape(const MergedPixels& m, Span<const XnnValue> values) {
  const Shape &image = values[m.before->inputs[0]].shape, &out = values[m.after->output].shape;
  optimized::WindowShape shape = window_shape(*m.convolution, values);
  shape.width = image.dims[2];
  shape.channels = image.dims[3];
  shape.out_width = out.dims[2];
  shape.window_width = m.width;
  shape.step_across = m.pixels / m.places;
  shape.padding_left = shape.padding_left * m.pixels - m.left;
  return shape;
}

std::unique_ptr<int8_t[]> plain_filter(const MergedPixels& m, Span<const XnnValue> values) {
  const MergedFilter filter(m, values);
  const int64_t bytes = m.width * filter.channels;
  auto made = make_array<int8_t>(static_cast<size_t>(filter.rows() * bytes));
  for (int64_t line = 0; made != nullptr && line < filter.rows(); ++line) {
    std::copy_n(filter.pixels(0, line) + m.left * filter.channels, bytes,
                made.get() + line * bytes);
  }
  return made;
}

}  // namespace taper::xnnpack
