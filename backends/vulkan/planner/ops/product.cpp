#include "backends/vulkan/planner/ops/product.h"

#include <algorithm>

namespace taper::vulkan {
namespace {

// Tiles that are tried, the largest first: it has the least traffic, if there are enough of them to
// occupy the device.
constexpr int64_t kTiles[][2] = {{64, 64}, {32, 64}, {32, 32}, {16, 32}, {16, 16}};
constexpr int64_t kEnoughGroups = 256;

uint32_t ten_bits_each(const int64_t (&values)[3]) {
  return static_cast<uint32_t>(values[0] | values[1] << 10 | values[2] << 20);
}

bool fits_ten_bits(const int64_t (&values)[3]) {
  return std::all_of(values, values + 3, [](int64_t v) { return v >= 0 && v < 1024; });
}

int64_t groups_along(int64_t size, int64_t tile) { return (size + tile - 1) / tile; }

const int64_t (&choose_tile(const Product& p))[2] {
  for (const auto& tile : kTiles) {
    const bool wasteful =
        (tile[0] > 16 && tile[0] >= p.m * 2) || (tile[1] > 16 && tile[1] >= p.n * 2);
    if (wasteful) continue;
    if (groups_along(p.m, tile[0]) * groups_along(p.n, tile[1]) * p.batch >= kEnoughGroups) {
      return tile;
    }
  }
  return kTiles[4];
}

}  // namespace

void multiply(Call& call, const Product& p) {
  struct Push {
    uint32_t m, n, k, a_m, a_k, b_k, b_n, inner, a_outer, a_inner, b_outer, b_inner;
    float least, most;
    int32_t in[3], out[2];
    uint32_t strides, pads, dilations;
  } push = {};
  const Windows& w = p.windows;
  call.require(fits_ten_bits(w.stride) && fits_ten_bits(w.pad) && fits_ten_bits(w.dilation) &&
                   fits_ten_bits(w.window),
               "its windows, strides or dilations are too large");
  if (!call.ok()) return;
  const auto u32 = [](int64_t value) { return static_cast<uint32_t>(value); };
  push = {
      u32(p.m),
      u32(p.n),
      u32(p.k),
      u32(p.a_m),
      u32(p.a_k),
      u32(p.b_k),
      u32(p.b_n),
      u32(p.inner),
      u32(p.a_outer),
      u32(p.a_inner),
      u32(p.b_outer),
      u32(p.b_inner),
      p.epilogue.least,
      p.epilogue.most,
      {static_cast<int32_t>(w.in[0]), static_cast<int32_t>(w.in[1]), static_cast<int32_t>(w.in[2])},
      {static_cast<int32_t>(w.out[1]), static_cast<int32_t>(w.out[2])},
      ten_bits_each(w.stride),
      ten_bits_each(w.pad),
      ten_bits_each(w.dilation)};
  const auto& tile = choose_tile(p);
  const Operand added = call.added();
  call.dispatch(Shader::gemm)
      .constant(u32(tile[0]))
      .constant(u32(tile[1]))
      .constant(p.a_k == 1)
      .constant(static_cast<uint32_t>(p.second))
      .constant(!p.has_bias        ? 0
                : p.bias_is_by_row ? 2
                                   : 1)
      .constant(static_cast<uint32_t>(p.epilogue.activation))
      .constant(static_cast<uint32_t>(p.epilogue.residual))
      .constant(u32(w.window[1]))
      .constant(u32(w.window[2]))
      .constant(u32(w.window[0] * w.window[1] * w.window[2]))
      .push(push)
      .writes(p.out)
      .reads(p.a)
      .reads(p.b);
  // A binding that is not used needs a buffer, too.
  call.reads(p.has_bias ? p.bias : p.a);
  if (p.epilogue.residual != Residual::kNone) call.reads(added);
  call.groups(groups_along(p.n, tile[1]), groups_along(p.m, tile[0]), p.batch);
}

}  // namespace taper::vulkan
