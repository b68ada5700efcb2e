// Transposed convolution: multiplies all taps by a block of input positions in one matrix product,
// then adds each product to the output position that its tap reaches. So no zeros are multiplied,
// however large the stride, and the weight is read in its own layout.

#include <algorithm>

#include "kernels_optimized/cores/conv_planes.h"
#include "kernels_optimized/cores/gemm.h"
#include "kernels_optimized/engine/parallel.h"

namespace taper::optimized {
namespace {

constexpr int64_t kMostPositions = 1024;

// Consecutive input positions in one row: (a, b, c), (a, b, c + 1), ...
struct Run {
  int64_t a, b, c;
  int64_t count;
};

// The output coordinate that tap t of input coordinate x reaches; it may lie outside the output.
int64_t land(const portable::Convolution& conv, int d, int64_t x, int64_t t) {
  return x * conv.stride[d] - conv.padding[d] + t * conv.dilation[d];
}

// Adds the products of one tap and a run to the plane of one output channel.
void add_run(const portable::Convolution& conv, const int64_t (&tap)[3], const Run& run,
             const float* values, float* plane) {
  const int64_t y0 = land(conv, 0, run.a, tap[0]), y1 = land(conv, 1, run.b, tap[1]);
  if (y0 < 0 || y0 >= conv.out.size[0] || y1 < 0 || y1 >= conv.out.size[1]) return;
  const int64_t width = conv.out.size[2], stride = conv.stride[2];
  float* row = plane + (y0 * conv.out.size[1] + y1) * width;
  int64_t first = 0, last = run.count;
  while (first < last && land(conv, 2, run.c + first, tap[2]) < 0) ++first;
  while (last > first && land(conv, 2, run.c + last - 1, tap[2]) >= width) --last;
  if (first == last) return;
  float* to = row + land(conv, 2, run.c + first, tap[2]);
  values += first;
  const int64_t count = last - first;
  if (stride == 1) {
    for (int64_t i = 0; i < count; ++i) to[i] += values[i];
  } else if (stride == 2) {
    for (int64_t i = 0; i < count; ++i) to[2 * i] += values[i];
  } else {
    for (int64_t i = 0; i < count; ++i) to[i * stride] += values[i];
  }
}

// Adds one row of the product: those of tap t with input positions [n, n + columns).
void add_row(const portable::Convolution& conv, int64_t t, int64_t n, int64_t columns,
             const float* values, float* plane) {
  const int64_t(&size)[3] = conv.weight.size;
  const int64_t(&in)[3] = conv.in.size;
  const int64_t tap[] = {t / (size[1] * size[2]), t / size[2] % size[1], t % size[2]};
  Run run = {n / (in[1] * in[2]), n / in[2] % in[1], n % in[2], 0};
  for (int64_t at = 0; at < columns; at += run.count) {
    run.count = std::min(columns - at, in[2] - run.c);
    add_run(conv, tap, run, values + at, plane);
    run.c = 0;
    if (++run.b == in[1]) run.b = 0, ++run.a;
  }
}

// The size of the block that one matrix product covers.
struct Block {
  int64_t channels;   // Output channels.
  int64_t positions;  // Input positions.
};

// Computes one group of one image; all pointers are those of the group. `out` already holds the
// biases.
bool add_products(const portable::Convolution& conv, const float* in, const float* weight,
                  const Block& block, const SpreadMemory& memory, const ThreadPool& pool,
                  float* out) {
  const int64_t taps = conv.weight.taps(), all = conv.in.positions();
  for (int64_t n = 0; n < all; n += block.positions) {
    const int64_t columns = std::min(block.positions, all - n);
    for (int64_t o = 0; o < conv.group_out(); o += block.channels) {
      const int64_t channels = std::min(block.channels, conv.group_out() - o);
      Gemm g;
      g.rows = channels * taps;
      g.columns = columns;
      g.depth = conv.group_in();
      g.left = {weight + o * taps, 1, conv.weight.in_stride};
      g.right = {in + n, all, 1};
      g.out = memory.products.data();
      g.out_stride = columns;
      if (!gemm(g, memory.scratch, pool)) return false;
      for_parts(pool, channels, taps * columns, 1, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin * taps; row < end * taps; ++row) {
          add_row(conv, row % taps, n, columns, g.out + row * columns,
                  out + (o + row / taps) * conv.out.positions());
        }
      });
    }
  }
  return true;
}

void fill_biases(const portable::Convolution& conv, int64_t channel, float* out) {
  const int64_t count = conv.out.positions();
  for (int64_t o = 0; o < conv.group_out(); ++o) {
    const float bias =
        conv.bias != nullptr ? conv.bias->const_data_ptr<float>()[channel + o] : 0.0f;
    std::fill_n(out + o * count, count, bias);
  }
}

// Computes [begin, end) of the groups of all images.
bool spread_groups(const portable::Convolution& conv, int64_t begin, int64_t end,
                   const SpreadMemory& memory, const ThreadPool& pool) {
  const auto room = static_cast<int64_t>(memory.products.size());
  const int64_t taps = conv.weight.taps();
  Block block;
  block.positions = std::min({conv.in.positions(), kMostPositions, room / taps});
  if (block.positions < 1 || !has_vectors()) return false;
  block.channels = std::min(conv.group_out(), room / (taps * block.positions));
  for (int64_t i = begin; i < end; ++i) {
    const int64_t image = i / conv.groups, group = i % conv.groups;
    const int64_t first = group * conv.group_in(), channel = group * conv.group_out();
    const float* in = static_cast<const float*>(conv.in.data) + image * conv.in.batch_stride +
                      first * conv.in.channel_stride;
    const float* weight =
        static_cast<const float*>(conv.weight.data) + first * conv.weight.in_stride;
    float* out = static_cast<float*>(conv.out.data) + image * conv.out.batch_stride +
                 channel * conv.out.positions();
    fill_biases(conv, channel, out);
    if (!add_products(conv, in, weight, block, memory, pool, out)) return false;
  }
  return true;
}

}  // namespace

bool convolve_transposed(const portable::Convolution& conv, const SpreadMemory& memory) {
  return spread_groups(conv, 0, conv.batch * conv.groups, memory, {});
}

bool convolve_transposed(const portable::Convolution& conv, KernelContext& context) {
  const int64_t count = conv.batch * conv.groups;
  if (count < context.pool().threads || context.pool().run == nullptr) {
    const Span<float> products = scratch_floats(context, kSpreadScratchFloats);
    return spread_groups(conv, 0, count, {products, shared_scratch(context, kGemmScratchFloats)},
                         context.pool());
  }
  if (conv.weight.taps() > kSpreadScratchFloats || !has_vectors()) return false;
  const int64_t work = conv.group_out() * conv.group_in() * conv.weight.taps() *
                       conv.in.positions() / kMultiplicationsPerUnit;
  bool has_memory = true;
  for_parts_with_scratch(context, count, work, kSpreadScratchFloats + kGemmScratchFloats,
                         [&](int64_t begin, int64_t end, Span<float> floats) {
                           if (floats.size() == 0) {  // Of a single thread.
                             has_memory = false;
                             return;
                           }
                           const SpreadMemory memory = {
                               floats.subspan(0, kSpreadScratchFloats),
                               floats.subspan(kSpreadScratchFloats, kGemmScratchFloats)};
                           spread_groups(conv, begin, end, memory, {});
                         });
  return has_memory;
}

}  // namespace taper::optimized
