// Convolution as a matrix product whose right operand, the matrix of input patches, is never stored
// as a whole: each panel is gathered when the product asks for it. The columns of a panel are
// divided into pieces that lie within one output row; for each tap the source of a piece is located
// once and then copied for all channels.

#include <algorithm>

#include "kernels_optimized/cores/conv_planes.h"
#include "kernels_optimized/cores/gemm.h"
#include "kernels_optimized/engine/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/cores/conv_dense.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels_optimized/cores/conv_rows.h"

// Shared by all compiled forms: this file is compiled once per instruction set.
#ifndef TAPER_CONV_PATCHES
#define TAPER_CONV_PATCHES
namespace taper::optimized {
namespace {

// The input channels of one group of one image.
struct Patches {
  const portable::Convolution* conv;
  const float* in;
};

// Output positions (a, b, c), (a, b, c + 1), ... within one row, at most a vector of them.
struct Piece {
  int64_t a, b, c;
  int64_t count;
};

// Channels [first, last) of a tap; their values for a piece go to `to`, `step` floats apart.
struct Channels {
  int64_t first, last;
  float* to;
  int64_t step;
};

}  // namespace
}  // namespace taper::optimized
#endif

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {
namespace {

// The input coordinate that tap t of output coordinate y reads; it may lie outside the input.
int64_t meet(const portable::Convolution& conv, int d, int64_t y, int64_t t) {
  return y * conv.stride[d] - conv.padding[d] + t * conv.dilation[d];
}

void pack_piece(const Patches& patches, const int64_t (&tap)[3], const Piece& piece,
                const Channels& channels) {
  const portable::Convolution& conv = *patches.conv;
  const int64_t x0 = meet(conv, 0, piece.a, tap[0]), x1 = meet(conv, 1, piece.b, tap[1]);
  const int64_t x2 = meet(conv, 2, piece.c, tap[2]), width = conv.in.size[2];
  float* to = channels.to;
  if (x0 < 0 || x0 >= conv.in.size[0] || x1 < 0 || x1 >= conv.in.size[1]) {
    for (int64_t i = channels.first; i < channels.last; ++i, to += channels.step) {
      store_count(hn::Zero(kTag), to, piece.count);
    }
    return;
  }
  const float* row = patches.in + channels.first * conv.in.channel_stride + x0 * conv.in.stride[0] +
                     x1 * conv.in.stride[1];
  const bool whole =
      conv.stride[2] == 1 && piece.count == kLanes && x2 >= 0 && x2 + kLanes <= width;
  for (int64_t i = channels.first; i < channels.last; ++i, to += channels.step) {
    if (whole) {
      hn::StoreU(hn::LoadU(kTag, row + x2), kTag, to);
    } else {
      store_count(load_steps(row, x2, conv.stride[2], width), to, piece.count);
    }
    row += conv.in.channel_stride;
  }
}

// Calls each() for the pieces of columns [n, n + columns).
template <typename Each>
void for_each_piece(const portable::Convolution& conv, int64_t n, int64_t columns, Each each) {
  const int64_t(&size)[3] = conv.out.size;
  Piece piece = {n / (size[1] * size[2]), n / size[2] % size[1], n % size[2], 0};
  for (int64_t at = 0; at < columns; at += piece.count) {
    piece.count = std::min({kLanes, columns - at, size[2] - piece.c});
    each(piece, at);
    piece.c += piece.count;
    if (piece.c < size[2]) continue;
    piece.c = 0;
    if (++piece.b < size[1]) continue;
    piece.b = 0;
    ++piece.a;
  }
}

// Writes a panel for PackedRight. Its rows are pairs (channel, tap), ordered by channel first.
void pack(const void* source, int64_t k, int64_t depth, int64_t n, int64_t columns, float* to,
          int64_t stride) {
  const Patches& patches = *static_cast<const Patches*>(source);
  const portable::Convolution& conv = *patches.conv;
  const int64_t taps = conv.weight.taps();
  const int64_t(&size)[3] = conv.weight.size;
  for (int64_t t = 0; t < taps; ++t) {
    const int64_t tap[] = {t / (size[1] * size[2]), t / size[2] % size[1], t % size[2]};
    Channels channels;
    channels.first = k > t ? (k - t + taps - 1) / taps : 0;
    channels.last = k + depth > t ? (k + depth - t + taps - 1) / taps : 0;
    channels.step = taps * stride;
    if (channels.first >= channels.last) continue;
    float* const row = to + (channels.first * taps + t - k) * stride;
    for_each_piece(conv, n, columns, [&](const Piece& piece, int64_t at) HWY_ATTR {
      channels.to = row + at;
      pack_piece(patches, tap, piece, channels);
    });
  }
}

}  // namespace

void pack_form(const void* source, int64_t k, int64_t depth, int64_t n, int64_t columns, float* to,
               int64_t stride) {
  pack(source, k, depth, n, columns, to, stride);
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE
namespace taper::optimized {
namespace {

using Form = decltype(PackedRight::pack);

// True if the matrix of patches is the input itself.
bool is_pointwise(const portable::Convolution& conv) {
  bool result = conv.weight.taps() == 1;
  for (int d = 0; d < portable::kSpatial; ++d) {
    result = result && conv.stride[d] == 1 && conv.padding[d] == 0;
  }
  return result;
}

// Computes one group of one image.
void convolve_group(const portable::Convolution& conv, const Bounds& bounds, Form form,
                    int64_t index, Span<float> scratch, const ThreadPool& pool) {
  const int64_t depth = conv.group_in() * conv.weight.taps(), positions = conv.out.positions();
  const int64_t image = index / conv.groups, group = index % conv.groups;
  const int64_t channel = group * conv.group_out();
  const float* in = static_cast<const float*>(conv.in.data) + image * conv.in.batch_stride +
                    group * conv.group_in() * conv.in.channel_stride;
  const Patches patches = {&conv, in};
  Gemm g;
  g.rows = conv.group_out();
  g.columns = positions;
  g.depth = depth;
  g.bounds = bounds;
  g.left = {static_cast<const float*>(conv.weight.data) + channel * depth, depth, 1};
  if (is_pointwise(conv)) {
    g.right = {in, positions, 1};
  } else {
    g.packed_right = {form, &patches};
  }
  if (conv.bias != nullptr) g.added = {conv.bias->const_data_ptr<float>() + channel, 1, 0};
  g.out = static_cast<float*>(conv.out.data) + image * conv.out.batch_stride + channel * positions;
  g.out_stride = positions;
  gemm(g, scratch, pool);
}

}  // namespace

bool convolve_dense(const portable::Convolution& conv, const Bounds& bounds,
                    KernelContext& context) {
  const Form form = TAPER_CHOOSE(Form, pack_form);
  if (form == nullptr) return false;
  const int64_t count = conv.batch * conv.groups;
  if (count < context.pool().threads || context.pool().run == nullptr) {
    const Span<float> scratch = shared_scratch(context, kGemmScratchFloats);
    for (int64_t i = 0; i < count; ++i) {
      convolve_group(conv, bounds, form, i, scratch, context.pool());
    }
    return true;
  }
  const int64_t work = conv.group_out() * conv.group_in() * conv.weight.taps() *
                       conv.out.positions() / kMultiplicationsPerUnit;
  for_parts_with_scratch(context, count, work, kGemmScratchFloats,
                         [&](int64_t begin, int64_t end, Span<float> scratch) {
                           for (int64_t i = begin; i < end; ++i) {
                             convolve_group(conv, bounds, form, i, scratch, {});
                           }
                         });
  return true;
}

}  // namespace taper::optimized
#endif  // HWY_ONCE
