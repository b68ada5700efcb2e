// Winograd's convolution is four steps, of which the first runs once:
//
//     winograd_weights   weights [out, in, 3, 3]   ->  u [side * side, out, in]
//     winograd_pixels    image                     ->  v [side * side, in, tiles]
//     gemm               u, v                      ->  sums [side * side, out, tiles]
//     winograd_sums      sums                      ->  result, with what comes after a sum
//
// A tile of the result is 2 x 2 or 4 x 4, and `side` is two more. Whether it is taken, and with
// which tile, is decided with the largest sizes, for all sizes: weights of other forms do not stay.

#include "backends/vulkan/planner/ops/winograd.h"

#include <algorithm>

#include "backends/vulkan/planner/ops/tiling.h"

namespace taper::vulkan {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 24;  // Of each tensor between the steps.

uint32_t u32(int64_t value) { return static_cast<uint32_t>(value); }

bool is_suitable(const Call& call, const Convolution& c) {
  const Windows& w = c.windows;
  bool fits = !c.transposed && c.groups == 1 && !c.has_bytes && !call.in_half() && c.step == 1 &&
              c.plane == 9 && c.row == c.in_channels * 9 && call.is_constant(c.weight);
  const bool is_flat = w.window[0] == 1 && w.in[0] == 1 && w.out[0] == 1;
  for (size_t d = 1; d < 3; ++d) {
    fits = fits && w.window[d] == 3 && w.stride[d] == 1 && w.dilation[d] == 1;
  }
  return fits && is_flat;
}

struct Tiles {
  Tiles(const Convolution& c, int64_t side)
      : size(side),
        matrices((side + 2) * (side + 2)),
        down(ceil_div(c.windows.out[1], side)),
        across(ceil_div(c.windows.out[2], side)),
        count(c.images * down * across),
        row(ceil_div(count, 4) * 4) {}

  int64_t size;      // Of a tile of the result.
  int64_t matrices;  // How many products there are.
  int64_t down, across, count;
  int64_t row;  // Tiles in a row of the matrices: so many that these are read four at a time.
};

Product product_of(const Convolution& c, const Tiles& t) {
  Product p;
  p.batch = p.inner = t.matrices;
  p.m = c.out_channels;
  p.n = t.row;
  p.k = c.in_channels;
  p.a_m = p.k;
  p.a_k = 1;
  p.a_inner = p.m * p.k;
  p.b_k = t.row;
  p.b_n = 1;
  p.b_inner = p.k * t.row;
  return p;
}

// Whether the device has memory for what is between the steps.
bool has_memory(const Call& call, const Convolution& c, const Tiles& t) {
  constexpr uint64_t kShare = 16;  // Of the device's memory.
  const auto most = static_cast<int64_t>(std::min<uint64_t>(
      {kMostElements, call.limits().range / 4, call.limits().bytes / kShare / 4}));
  const auto fits = [&](int64_t a, int64_t b) {
    int64_t all = t.matrices;
    return !__builtin_mul_overflow(all, a, &all) && !__builtin_mul_overflow(all, b, &all) &&
           all <= most;
  };
  return fits(c.in_channels, t.row) && fits(c.out_channels, t.row) &&
         fits(c.in_channels, c.out_channels);
}

// In the units of tiling.h, measured on the same GPU.
int64_t cost_of(const Call& call, const Convolution& c, const Tiles& t) {
  constexpr int64_t kSteps = 800, kMoved = 4000, kWeights = 8000;  // Elements per unit.
  const int64_t channels = c.in_channels + c.out_channels;
  const int64_t moved = (t.matrices + t.size * t.size) * channels * t.row;
  const int64_t weights = (t.matrices - 9) * c.in_channels * c.out_channels;
  return cost_for_processors(call, product_of(c, t)) + kSteps + moved / kMoved + weights / kWeights;
}

// The size of tiles that is fastest; 0 if another convolution is.
int64_t fastest_tile(const Call& call, const Convolution& c) {
  int64_t best = 0, least = cost_for_processors(call, image_product(c));
  for (const int64_t size : {2, 4}) {
    const Tiles t(c, size);
    if (!has_memory(call, c, t)) continue;
    const int64_t cost = cost_of(call, c, t);
    if (cost < least) best = size;
    least = std::min(least, cost);
  }
  return best;
}

Operand transformed_weights(Call& call, const Convolution& c, const Tiles& t) {
  struct Push {
    uint32_t count;
  };
  const int64_t windows = c.in_channels * c.out_channels;
  Operand made;
  // Other forms of constants are told by a stride, which is positive.
  if (call.shared(c.weight, -t.size, t.matrices * windows, made)) {
    call.dispatch(Shader::winograd_weights)
        .constant(u32(t.size))
        .push(Push{u32(windows)})
        .writes(made)
        .reads(c.weight)
        .groups_for(windows, 256);
  }
  return made;
}

Operand transformed_pixels(Call& call, const Convolution& c, const Tiles& t) {
  struct Push {
    uint32_t count, row, tiles, down, across, channels, height, width, pad_h, pad_w;
  };
  const Windows& w = c.windows;
  const int64_t count = c.in_channels * t.row;
  const Push push = {u32(count),         u32(t.row),   u32(t.count), u32(t.down),   u32(t.across),
                     u32(c.in_channels), u32(w.in[1]), u32(w.in[2]), u32(w.pad[1]), u32(w.pad[2])};
  const Operand made = call.temporary(t.matrices * count);
  call.dispatch(Shader::winograd_pixels)
      .constant(u32(t.size))
      .push(push)
      .writes(made)
      .reads(c.x)
      .groups_for(count, 256);
  return made;
}

void finish(Call& call, const Convolution& c, const Tiles& t, const Operand& sums) {
  struct Push {
    uint32_t row, tiles, down, across, channels, height, width;
    Ending ending;
  };
  const Windows& w = c.windows;
  const Push push = {u32(t.row),          u32(t.count),  u32(t.down),   u32(t.across),
                     u32(c.out_channels), u32(w.out[1]), u32(w.out[2]), Ending(c.epilogue)};
  const Operand added = call.added();
  call.dispatch(Shader::winograd_sums)
      .constant(u32(t.size))
      .constant(c.has_bias)
      .constant(ending_kind(c.epilogue))
      .constant(static_cast<uint32_t>(c.epilogue.residual))
      .push(push)
      .writes(c.out)
      .reads(sums)
      .reads(c.has_bias ? c.bias : sums);  // A binding that is not used needs a buffer, too.
  if (c.epilogue.residual != Residual::kNone) call.reads(added);
  call.groups_for(c.out_channels * t.count, 256);
}

}  // namespace

bool convolve_by_winograd(Call& call, const Convolution& c) {
  if (!is_suitable(call, c)) return false;
  const int64_t size = call.decided([&] { return fastest_tile(call, c); });
  if (size == 0) return false;
  const Tiles t(c, size);
  Product p = product_of(c, t);
  p.a = transformed_weights(call, c, t);
  p.b = transformed_pixels(call, c, t);
  p.out = call.temporary(t.matrices * c.out_channels * t.row);
  multiply(call, p);
  finish(call, c, t, p.out);
  return true;
}

}  // namespace taper::vulkan
