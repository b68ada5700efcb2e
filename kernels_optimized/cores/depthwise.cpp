// Depthwise convolutions; depthwise.h explains the idea.

#include "kernels_optimized/cores/depthwise.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "kernels_portable/engine/divide.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/cores/depthwise.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels_optimized/engine/vector_math.h"

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {
namespace {

// The number of results computed at once: their sums, a row of weights and a pixel fit in
// registers. Most images are a multiple of 7 wide.
constexpr int64_t kStrip = HWY_ARCH_X86 && kLanes < 16 ? 4 : 7;
// The same for narrower images. Two strips of 4 are a row of 7, which is common.
constexpr int64_t kNarrowStrip = HWY_ARCH_X86 ? 3 : 4;
// What may stay in the first cache, in floats.
constexpr int64_t kCachedFloats = (32 << 10) / sizeof(float);
// Memory that is read in pieces of so many channels is read in order.
constexpr int64_t kChannelsInOrder = 64;

// Calls function(0) to function(kCount - 1) with constants: what they index can be in registers.
template <int... kIndex, typename Function>
HWY_INLINE void call_each(std::integer_sequence<int, kIndex...>, const Function& function) {
  (function(std::integral_constant<int, kIndex>{}), ...);
}
template <int kCount, typename Function>
HWY_INLINE void repeat(const Function& function) {
  call_each(std::make_integer_sequence<int, kCount>{}, function);
}

// A vector of channels, or, unless kWhole, the first few of one.
template <bool kWhole>
struct Block {
  int64_t count;

  HWY_INLINE Vec read(const float* from) const {
    return kWhole ? hn::LoadU(kTag, from) : load_some(from, count);
  }
  HWY_INLINE void write(Vec value, float* to) const {
    kWhole ? hn::StoreU(value, kTag, to) : store_some(value, to, count);
  }
};

// A convolution as strips see it: those of windows that are one column are strips of columns, so
// rows and columns are exchanged. Distances are those in memory.
struct View {
  WindowShape shape;
  bool is_turned;
  int64_t row, pixel;          // From a row or pixel of the image to the next.
  int64_t out_row, out_pixel;  // The same for results.
};

// Some results beside each other, or, with a dilation, so far apart that their windows share
// pixels: then columns are those of the image that such windows read. Addresses are those of
// channel 0; rows of the window that lie outside the image are left out.
struct Strip {
  const float* pixels;   // Of the first row, at column 0.
  const float* weights;  // Of the first row.
  int64_t rows;
  int64_t left;     // The column under the first column of the first window.
  int64_t width;    // The number of columns.
  uint32_t inside;  // Bit p tells whether column left + p lies inside the image.
  float* out;
};

// The bits of Strip::inside.
uint32_t columns_inside(int64_t width, int64_t left) {
  const auto below = [](int64_t bits) {
    return (uint64_t{1} << std::clamp(bits, int64_t{0}, int64_t{32})) - 1;
  };
  return static_cast<uint32_t>(below(width - left) & ~below(-left));
}

View view_of(const WindowShape& s) {
  const int64_t row = s.width * s.channels, out_row = s.out_width * s.channels;
  View v = {s, s.window_width == 1 && s.window_height > 1, row, s.channels, out_row, s.channels};
  if (!v.is_turned) return v;
  std::swap(v.row, v.pixel);
  std::swap(v.out_row, v.out_pixel);
  std::swap(v.shape.height, v.shape.width);
  std::swap(v.shape.out_height, v.shape.out_width);
  std::swap(v.shape.window_height, v.shape.window_width);
  std::swap(v.shape.step_down, v.shape.step_across);
  std::swap(v.shape.dilation_down, v.shape.dilation_across);
  std::swap(v.shape.padding_top, v.shape.padding_left);
  return v;
}

Strip find_strip(const View& v, const DepthwiseData& d, int64_t image, int64_t y, int64_t x) {
  const WindowShape& s = v.shape;
  const int64_t top = y * s.step_down - s.padding_top;
  const int64_t begin =
      std::clamp(portable::divide_up(-top, s.dilation_down), int64_t{0}, s.window_height);
  const int64_t end =
      std::clamp(portable::divide_up(s.height - top, s.dilation_down), begin, s.window_height);
  const int64_t first = x * s.step_across - s.padding_left;
  const int64_t left = portable::divide_down(first, s.dilation_across);
  const int64_t column = first - left * s.dilation_across;
  const int64_t width = portable::divide_up(s.width - column, s.dilation_across);
  const float* pixels = d.image + image * s.height * s.width * s.channels;
  float* out = d.out + image * s.out_height * s.out_width * s.channels;
  return {pixels + (top + begin * s.dilation_down) * v.row + column * v.pixel,
          d.filter + begin * s.window_width * s.channels,
          end - begin,
          left,
          width,
          columns_inside(width, left),
          out + y * v.out_row + x * v.out_pixel};
}

// Adds to every result the products of kColumns columns of a row of the window with the pixels
// under them, of which the first is at `offset`, and the others `pitch` apart. `is_inside` tells
// whether the image has the p-th.
template <int kColumns, int kStep, int kCount, typename Block, typename IsInside>
HWY_INLINE void add_columns(Block block, int64_t channels, const float* weights,
                            const float* pixels, int64_t pitch, int64_t offset,
                            const IsInside& is_inside, Vec (&sums)[kCount]) {
  constexpr int kPixels = (kCount - 1) * kStep + kColumns;
  static_assert(kPixels <= 32, "Strip::inside has a bit for each");
  Vec factors[kColumns];
  repeat<kColumns>([&](auto j) HWY_ATTR { factors[j] = block.read(weights + j * channels); });
  repeat<kPixels>([&](auto p) HWY_ATTR {
    if (!is_inside(p)) return;
    const Vec pixel = block.read(pixels + offset + p * pitch);
    repeat<kCount>([&](auto i) HWY_ATTR {
      constexpr int j = p - i * kStep;
      if constexpr (j >= 0 && j < kColumns) sums[i] = hn::MulAdd(pixel, factors[j], sums[i]);
    });
  });
}

// Adds all columns of a row of the window, four at a time and then three or one.
template <int kStep, int kCount, typename Block>
HWY_INLINE void add_row(const WindowShape& s, Block block, const float* weights,
                        const float* pixels, int64_t pitch, const Strip& strip,
                        Vec (&sums)[kCount]) {
  const auto add = [&](auto columns, int64_t j) HWY_ATTR {
    const int64_t first = strip.left + j;
    // As an unsigned number, a column left of the image is beyond its right end.
    const auto is_inside = [&](int p) HWY_ATTR {
      return static_cast<uint64_t>(first + p) < static_cast<uint64_t>(strip.width);
    };
    add_columns<columns, kStep>(block, s.channels, weights + j * s.channels, pixels, pitch,
                                first * pitch, is_inside, sums);
  };
  int64_t j = 0;
  for (; j + 4 <= s.window_width; j += 4) add(std::integral_constant<int, 4>{}, j);
  for (; j + 3 <= s.window_width; j += 3) add(std::integral_constant<int, 3>{}, j);
  for (; j < s.window_width; ++j) add(std::integral_constant<int, 1>{}, j);
}

// Computes kCount results in a block of channels from `channel` on. kWidth is the width of the
// window; 0 means any, and any dilation and view.
template <int kWidth, int kStep, int kCount, typename Block>
HWY_INLINE void run_block(const View& v, const DepthwiseData& d, Block block, const Strip& strip,
                          int64_t channel) {
  const WindowShape& s = v.shape;
  const Vec bias = d.bias != nullptr ? block.read(d.bias + channel) : hn::Zero(kTag);
  Vec sums[kCount];
  repeat<kCount>([&](auto i) HWY_ATTR { sums[i] = bias; });
  int64_t channels = s.channels;
  // From one pixel that is read, and one result, to the next.
  const int64_t pitch = v.pixel * s.dilation_across, out_pitch = v.out_pixel * s.dilation_across;
  uint32_t inside = strip.inside;
  const float* weights = strip.weights + channel;
  const float* pixels = strip.pixels + channel;
  for (int64_t k = 0; k < strip.rows; ++k) {
    if constexpr (kWidth > 0) {
      const auto is_inside = [&](int p) HWY_ATTR { return (inside >> p & 1) != 0; };
      // As if they changed: the compiler would otherwise keep the offsets of all pixels, more than
      // fit in registers, and a copy of the loop for each edge of the image.
      asm("" : "+r"(channels), "+r"(inside));
      add_columns<kWidth, kStep>(block, channels, weights, pixels, channels, strip.left * channels,
                                 is_inside, sums);
    } else {
      add_row<kStep>(s, block, weights, pixels, pitch, strip, sums);
    }
    weights += s.window_width * s.channels;
    pixels += v.row * s.dilation_down;
  }
  float* out = strip.out + channel;
  const int64_t apart = kWidth > 0 ? channels : out_pitch;
  if (d.activation == DepthwiseActivation::kSwish) {
    repeat<kCount>([&](auto i) HWY_ATTR { block.write(swish_of(sums[i]), out + i * apart); });
  } else if (d.activation == DepthwiseActivation::kHardswish) {
    repeat<kCount>([&](auto i) HWY_ATTR { block.write(hardswish_of(sums[i]), out + i * apart); });
  } else {
    const Vec min = constant(d.min), max = constant(d.max);
    repeat<kCount>([&](auto i) HWY_ATTR {
      block.write(at_most(at_least(sums[i], min), max), out + i * apart);
    });
  }
}

// Computes kCount results in channels [begin, end).
template <int kWidth, int kStep, int kCount>
void run_strip(const View& v, const DepthwiseData& d, const Strip& strip, int64_t begin,
               int64_t end) {
  if (end - begin < kLanes) {
    run_block<kWidth, kStep, kCount>(v, d, Block<false>{end - begin}, strip, begin);
  } else {
    for (int64_t channel = begin; channel < end; channel += kLanes) {
      // The last block may overlap the one before it, which is faster than a part of a vector.
      const int64_t first = std::min(channel, end - kLanes);
      run_block<kWidth, kStep, kCount>(v, d, Block<true>{kLanes}, strip, first);
    }
  }
}

// Results of an image, as a view has them.
struct Area {
  int64_t image;
  int64_t top, bottom;  // Rows [top, bottom),
  int64_t left, right;  // of which columns [left, right).
  int64_t channel, end;
};

// Computes results in strips of kCount. The last strip of a row may overlap the one before it. With
// a dilation, as many strips begin each row as there are pixels between two taps. Strips of columns
// follow each other along the row, since memory is read in order so.
template <int kWidth, int kStep, int kCount>
void run_rows(const View& v, const DepthwiseData& d, const Area& a) {
  const int64_t apart = kWidth > 0 ? 1 : v.shape.dilation_across;
  const int64_t rows = v.is_turned ? a.bottom - a.top : 1;
  for (int64_t y = a.top; y < a.bottom; y += rows) {
    for (int64_t first = a.left; first < std::min(a.left + apart, a.right); ++first) {
      const int64_t results = (a.right - first - 1) / apart + 1;
      for (int64_t x = 0; x < results; x += kCount) {
        const int64_t column = first + std::min(x, results - kCount) * apart;
        for (int64_t row = y; row < y + rows; ++row) {
          const Strip strip = find_strip(v, d, a.image, row, column);
          run_strip<kWidth, kStep, kCount>(v, d, strip, a.channel, a.end);
        }
      }
    }
  }
}

// How many channels are computed before others. Every row of an image is read for each row of the
// window, so the rows under a window should stay in the cache beside the weights. If they are too
// wide for that, it is better to read them in order, unless a window has many rows.
int64_t channels_at_once(const WindowShape& s) {
  const int64_t taps = s.window_height * s.window_width;
  const int64_t cached = kCachedFloats / (taps + s.window_height * s.width);
  const bool is_in_order = cached < kChannelsInOrder && s.window_height <= 3;
  const int64_t channels = is_in_order ? kCachedFloats / 2 / taps : cached;
  return std::max(channels / kLanes, int64_t{1}) * kLanes;
}

template <int kWidth, int kStep>
void run_area(const View& v, const DepthwiseData& d, const Area& whole) {
  const WindowShape& s = v.shape;
  const int64_t group = channels_at_once(s);
  const int64_t results = (whole.right - whole.left) / s.dilation_across;
  Area area = whole;
  for (; area.channel < whole.end; area.channel += group) {
    area.end = std::min(area.channel + group, whole.end);
    if (results >= kStrip) {
      run_rows<kWidth, kStep, kStrip>(v, d, area);
    } else if (results >= kNarrowStrip) {
      run_rows<kWidth, kStep, kNarrowStrip>(v, d, area);
    } else {
      run_rows<kWidth, kStep, 1>(v, d, area);
    }
  }
}

// Computes a part image by image.
template <int kWidth, int kStep>
void run_part(const View& v, const DepthwiseData& d, const DepthwisePart& part) {
  const int64_t height = v.is_turned ? v.shape.out_width : v.shape.out_height;
  const int64_t end = part.first_row + part.rows;
  for (int64_t row = part.first_row; row < end;) {
    const int64_t image = row / height, first = row % height;
    const int64_t last = std::min(first + end - row, height);
    Area area = {image,
                 first,
                 last,
                 0,
                 v.shape.out_width,
                 part.first_channel,
                 part.first_channel + part.channels};
    if (v.is_turned) area = {image, 0, v.shape.out_height, first, last, area.channel, area.end};
    run_area<kWidth, kStep>(v, d, area);
    row += last - first;
  }
}

}  // namespace

void depthwise_form(const WindowShape& s, const DepthwiseData& d, const DepthwisePart& part) {
  const bool is_every = s.step_across == 1;
  const bool is_dilated = s.dilation_down > 1 || s.dilation_across > 1;
  const View v = view_of(s);
  switch (is_dilated || v.is_turned ? 0 : s.window_width) {
    case 3:
      return is_every ? run_part<3, 1>(v, d, part) : run_part<3, 2>(v, d, part);
    case 5:
      return is_every ? run_part<5, 1>(v, d, part) : run_part<5, 2>(v, d, part);
    case 7:
      return is_every ? run_part<7, 1>(v, d, part) : run_part<7, 2>(v, d, part);
    default:
      return is_every ? run_part<0, 1>(v, d, part) : run_part<0, 2>(v, d, part);
  }
}

int64_t lanes_form() { return kLanes; }

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE
namespace taper::optimized {
namespace {

using Form = void (*)(const WindowShape&, const DepthwiseData&, const DepthwisePart&);
using Lanes = int64_t (*)();

}  // namespace

bool has_depthwise(int64_t step) {
  return (step == 1 || step == 2) && TAPER_CHOOSE(Form, depthwise_form) != nullptr;
}

int64_t depthwise_channels() { return TAPER_CHOOSE(Lanes, lanes_form)(); }

void depthwise(const WindowShape& shape, const DepthwiseData& data, const DepthwisePart& part) {
  TAPER_CHOOSE(Form, depthwise_form)(shape, data, part);
}

}  // namespace taper::optimized
#endif  // HWY_ONCE
