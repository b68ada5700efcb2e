// Images of other sizes, images with edges of their own pixels, and images sampled at points.
// Semantics: PyTorch; the compiler brings one and three dimensions to the forms of two.

#include <algorithm>

#include "backends/vulkan/planner/call.h"
#include "backends/vulkan/planner/operators.h"
#include "backends/vulkan/planner/ops/strided.h"

namespace taper::vulkan {
namespace {

constexpr int64_t kMostSize = int64_t{1} << 24;  // Of an image: floats count so far.

// What upsample.comp does; the shader has the numbers.
enum class UpsampleKind : uint32_t { kNearest, kBilinear, kSmooth };

struct Upsampling {
  uint32_t count = 0;
  uint32_t unused = 0;  // Pairs begin at multiples of eight bytes.
  int32_t size[2] = {}, out_size[2] = {};
  float scale[2] = {};
};

// Pixels of the image per pixel of the result; `factor` is that of the call, or 0.
float scale_of(int64_t in, int64_t out, double factor, bool aligns_corners) {
  if (aligns_corners) {
    return out > 1 ? static_cast<float>(in - 1) / static_cast<float>(out - 1) : 0.0F;
  }
  if (factor > 0) return static_cast<float>(std::min(1.0 / factor, 2147483648.0));
  return static_cast<float>(in) / static_cast<float>(out);
}

// A size of the result: `given`, or what `factor` makes of that of the image.
int64_t resized(Call& call, int64_t in, int64_t given, double factor) {
  const double out = factor > 0 ? static_cast<double>(in) * factor : static_cast<double>(given);
  const bool sane = in > 0 && in <= kMostSize && out >= 1 && out <= static_cast<double>(kMostSize);
  return call.require(sane, "its sizes are out of range") ? static_cast<int64_t>(out) : 1;
}

void upsample(Call& call, UpsampleKind kind, const Operand& x, const int64_t (&given)[2],
              const double (&factors)[2], bool aligns_corners, bool given_is_size) {
  if (!call.require(x.dims.rank == 4, "its image has no four dimensions")) return;
  Upsampling push;
  Dims dims = x.dims;
  for (size_t d = 0; d < 2; ++d) {
    const int64_t in = x.dims[2 + d];
    const int64_t out = resized(call, in, given[d], given_is_size ? 0 : factors[d]);
    push.size[d] = static_cast<int32_t>(in);
    push.out_size[d] = static_cast<int32_t>(out);
    // What keeps its size is left alone, and doubling repeats each pixel, whatever the factor says.
    const bool by_size = kind == UpsampleKind::kNearest && out == 2 * in;
    const bool same = kind != UpsampleKind::kSmooth && in == out;
    push.scale[d] = same ? 1.0F : scale_of(in, out, by_size ? 0 : factors[d], aligns_corners);
    dims[2 + d] = out;
  }
  const Operand out = call.half_result(dims, x.dtype);
  push.count = static_cast<uint32_t>(out.dims.numel());
  call.dispatch(Shader::upsample)
      .constant(static_cast<uint32_t>(kind))
      .constant(aligns_corners)
      .push(push)
      .writes(out)
      .reads(x)
      .groups_for_words(out);
}

// upsample_nearest2d.vec(x, SymInt[]? size, float[]? factors)
// upsample_bilinear2d.vec(x, SymInt[]? size, bool align_corners, float[]? factors)
void plan_upsample(Call& call, int is_bilinear) {
  const Operand x = call.tensor(0);
  const size_t at = is_bilinear != 0 ? 3 : 2;
  const bool aligns_corners = is_bilinear != 0 && call.flag(2);
  call.require(is_bilinear == 0 || x.dtype == ScalarType::kFloat,
               "it interpolates a dtype other than float32");
  const bool has_size = !call.is_none(1);
  call.require(has_size != !call.is_none(at), "it has both a size and factors, or neither");
  int64_t sizes[2] = {};
  double factors[2] = {};
  const Dims list = has_size ? call.integers(1, 2, 0) : Dims();
  for (size_t d = 0; d < 2 && call.ok(); ++d) {
    if (has_size) {
      sizes[d] = list[d];
    } else {
      factors[d] = call.number(at, d, 2);
      call.require(factors[d] > 0, "its factors are out of range");
    }
  }
  if (!call.ok()) return;
  upsample(call, is_bilinear != 0 ? UpsampleKind::kBilinear : UpsampleKind::kNearest, x, sizes,
           factors, aligns_corners, has_size);
}

// _upsample_bilinear2d_aa(x, SymInt[2] size, bool align_corners, float? factor_h, float? factor_w)
void plan_upsample_smoothly(Call& call, int) {
  const Operand x = call.tensor(0);
  const Dims size = call.integers(1, 2, 0);
  call.require(x.dtype == ScalarType::kFloat, "it interpolates a dtype other than float32");
  const double factors[2] = {call.number(3, 0), call.number(4, 0)};
  if (!call.ok()) return;
  upsample(call, UpsampleKind::kSmooth, x, {size[0], size[1]}, factors, call.flag(2), true);
}

enum : int { kReflects = 1, kSpatial = 2 };  // The variant is kSpatial * dimensions + kReflects.

// reflection_pad2d(x, SymInt[4] pads), replication_pad2d, and those of one and three dimensions:
// pads come in pairs, those of the last dimension first.
void plan_edge_pad(Call& call, int variant) {
  struct Push {
    uint32_t count = 0;
    int32_t in[3] = {1, 1, 1}, out[3] = {1, 1, 1}, before[3] = {};
  } push;
  const bool reflects = variant % kSpatial != 0;
  const auto spatial = static_cast<size_t>(variant / kSpatial);
  const Operand x = call.tensor(0);
  const size_t rank = x.dims.rank;
  const Dims pads = call.integers(1);
  if (!call.require((rank == spatial + 1 || rank == spatial + 2) && pads.rank == 2 * spatial,
                    "it pads no image")) {
    return;
  }
  Dims dims = x.dims;
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t in = x.dims[rank - 1 - i], before = pads[2 * i], after = pads[2 * i + 1];
    const auto is_sane = [](int64_t pad) { return pad > -kMostSize && pad < kMostSize; };
    if (!call.require(in > 0 && in < INT32_MAX / 2 && is_sane(before) && is_sane(after),
                      "its sizes or pads are out of range")) {
      return;
    }
    const int64_t out = in + before + after;
    const int64_t kept = in + std::min<int64_t>(before, 0) + std::min<int64_t>(after, 0);
    call.require(out > 0 && kept > 0, "it cuts off more than there is");
    call.require(!reflects || (before < in && after < in), "it reflects more than there is");
    push.in[2 - i] = static_cast<int32_t>(in);
    push.out[2 - i] = static_cast<int32_t>(out);
    push.before[2 - i] = static_cast<int32_t>(before);
    dims[rank - 1 - i] = out;
  }
  const Operand out = call.half_result(dims, x.dtype);
  push.count = static_cast<uint32_t>(out.dims.numel());
  call.dispatch(Shader::edge_pad)
      .constant(reflects)
      .push(push)
      .writes(out)
      .reads(x)
      .groups_for_words(out);
}

// grid_sampler_2d(x, grid, int interpolation, int padding, bool align_corners)
void plan_grid_sampler(Call& call, int) {
  struct Push {
    uint32_t count;
    int32_t channels, size[2], points;
  };
  const Operand x = call.tensor(0), grid = call.tensor(1);
  const int64_t interpolation = call.integer(2), padding = call.integer(3);
  const bool aligns_corners = call.flag(4);
  call.require(x.dtype == ScalarType::kFloat && grid.dtype == ScalarType::kFloat,
               "it interpolates a dtype other than float32");
  if (!call.require(
          x.dims.rank == 4 && grid.dims.rank == 4 && grid.dims[3] == 2 && grid.dims[0] == x.dims[0],
          "its grid does not fit its image")) {
    return;
  }
  call.require(interpolation >= 0 && interpolation <= 2 && padding >= 0 && padding <= 2,
               "its interpolation or padding is not known");
  call.require(x.dims[2] > 0 && x.dims[3] > 0 && x.dims[2] <= kMostSize && x.dims[3] <= kMostSize,
               "its image is empty or too large");
  const Operand out =
      call.half_result({4, {x.dims[0], x.dims[1], grid.dims[1], grid.dims[2]}}, ScalarType::kFloat);
  if (!call.ok()) return;
  const Push push = {static_cast<uint32_t>(out.dims.numel()),
                     static_cast<int32_t>(x.dims[1]),
                     {static_cast<int32_t>(x.dims[3]), static_cast<int32_t>(x.dims[2])},
                     static_cast<int32_t>(grid.dims.product(1, 3))};
  call.dispatch(Shader::grid_sampler)
      .constant(static_cast<uint32_t>(interpolation))
      .constant(static_cast<uint32_t>(padding))
      .constant(aligns_corners)
      .push(push)
      .writes(out)
      .reads(x)
      .reads(grid)
      .groups_for_words(out);
}

// grid_priors(x, int stride, float offset): the points (column, row) of the image x, from the first
// row on, each moved by `offset` and multiplied by `stride`.
void plan_grid_points(Call& call, int) {
  const Operand x = call.tensor(0);
  const auto stride = static_cast<double>(call.integer(1));
  const double offset = call.number(2);
  const size_t rank = x.dims.rank;
  if (!call.require(rank >= 2 && x.dtype == ScalarType::kFloat, "it has no image of float32"))
    return;
  const int64_t sizes[2] = {x.dims[rank - 1], x.dims[rank - 2]};
  const Operand out = call.half_result({2, {sizes[0] * sizes[1], 2}}, ScalarType::kFloat);
  for (size_t d = 0; d < 2 && call.ok(); ++d) {
    Operand line = call.temporary(sizes[d]);
    fill(call, line, offset * stride, stride);
    copy(call, {2, {sizes[1], sizes[0]}}, {out, static_cast<int64_t>(d), {2, {2 * sizes[0], 2}}},
         {line, 0, {2, {d == 1 ? 1 : 0, d == 0 ? 1 : 0}}});
  }
}

constexpr int edges(int spatial, bool reflects) {
  return spatial * kSpatial + (reflects ? kReflects : 0);
}

constexpr Operator kOperators[] = {
    {"aten.upsample_nearest2d.vec", "aten::upsample_nearest2d.vec_out", 3, plan_upsample},
    {"aten.upsample_bilinear2d.vec", "aten::upsample_bilinear2d.vec_out", 4, plan_upsample, 1},
    {"aten._upsample_bilinear2d_aa.default", "aten::_upsample_bilinear2d_aa.out", 5,
     plan_upsample_smoothly},
    {"aten.reflection_pad1d.default", "aten::reflection_pad1d.out", 2, plan_edge_pad,
     edges(1, true)},
    {"aten.reflection_pad2d.default", "aten::reflection_pad2d.out", 2, plan_edge_pad,
     edges(2, true)},
    {"aten.reflection_pad3d.default", "aten::reflection_pad3d.out", 2, plan_edge_pad,
     edges(3, true)},
    {"aten.replication_pad1d.default", "aten::replication_pad1d.out", 2, plan_edge_pad,
     edges(1, false)},
    {"aten.replication_pad2d.default", "aten::replication_pad2d.out", 2, plan_edge_pad,
     edges(2, false)},
    {"aten.replication_pad3d.default", "aten::replication_pad3d.out", 2, plan_edge_pad,
     edges(3, false)},
    {"aten.grid_sampler_2d.default", "aten::grid_sampler_2d.out", 5, plan_grid_sampler},
    {"et_vk.grid_priors.default", "vulkan::grid_points", 3, plan_grid_points},
};

}  // namespace

const Span<const Operator> kResampleOperators = kOperators;

}  // namespace taper::vulkan
