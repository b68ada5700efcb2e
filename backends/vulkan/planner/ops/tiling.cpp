#include "backends/vulkan/planner/ops/tiling.h"

#include <algorithm>

namespace taper::vulkan {
namespace {

constexpr int64_t kMostThreads = 512;              // Of a workgroup of matrix units.
constexpr int64_t kMostShared = int64_t{1} << 23;  // Elements of the sums of all parts.

// An H200, on which the costs below were measured.
constexpr int64_t kProcessors = 132;

int64_t groups_of(const Product& p, const Tiling& t) {
  return ceil_div(p.m, t.m) * ceil_div(p.n, t.n) * p.batch * t.parts;
}

// Estimates the time of a product. A step of a workgroup takes as long as its arithmetic and its
// loads, of all workgroups that run on a processor, but no less than a load takes. The numbers fit
// what an H200 was measured to take for the products of seven networks.
int64_t cost_of(const Product& p, const Tiling& t) {
  constexpr int64_t kLoad = 64, kDispatch = 400, kPart = 32;
  const int64_t steps = ceil_div(ceil_div(p.k, t.parts), t.depth);
  const int64_t work = t.m * t.n / 64 + (t.m + t.n) / 4;
  const int64_t step = std::max(kLoad, ceil_div(groups_of(p, t), kProcessors) * work);
  return steps * step + (t.parts > 1 ? kDispatch + t.parts * kPart : 0);
}

// Likewise for bytes: a step has as much arithmetic for four times as much of k, but numbers are
// loaded one by one.
int64_t byte_cost_of(const Product& p, const Tiling& t) {
  constexpr int64_t kLoad = 96, kDispatch = 400, kPart = 32;
  const int64_t steps = ceil_div(ceil_div(p.k, t.parts), t.depth);
  const int64_t work = t.m * t.n / 64 + (p.a_has_bytes ? t.m / 4 + t.n : t.m + t.n / 4);
  const int64_t step = std::max(kLoad, ceil_div(groups_of(p, t), kProcessors) * work);
  return steps * step + (t.parts > 1 ? kDispatch + t.parts * kPart : 0);
}

bool is_of_image(const Product& p) {
  return p.second == SecondMatrix::kImage || p.second == SecondMatrix::kTransposedImage;
}

// Likewise for matrix units, with products of ResNet-50, ViT-B and Llama 1B. A pixel of an image
// costs as much again as another element, one of float16 half as much. The largest tiles read
// fewer fragments for each product, but take longer to begin and to end. Numbers stay far below
// 2^63: sizes are below 2^31.
int64_t unit_cost_of(const Product& p, const Tiling& t) {
  constexpr int64_t kLoad = 4800, kDispatch = 14000, kPart = 70;  // Elements per unit of cost.
  constexpr int64_t kLargeStart = 80000;
  const bool is_large = t.down * t.across > 2;
  const int64_t steps = ceil_div(ceil_div(p.k, t.parts), t.depth);
  const int64_t loads = (p.a_is_packed ? 15 : 29) * t.m + (is_of_image(p) ? 59 : 29) * t.n;
  const int64_t work = (t.m * t.n * (is_large ? 80 : 115) / 100 + loads) * t.depth / 64;
  const int64_t rounds = ceil_div(groups_of(p, t), kProcessors);
  const int64_t step = std::max(kLoad, rounds * work);
  return steps * step + (is_large ? rounds * kLargeStart : 0) +
         (t.parts > 1 ? kDispatch + t.parts * (p.m * p.n / kPart) : 0);
}

// Likewise for bytes, with products of ResNet-50, MobileNetV2 and of 128 and 1024 rows of 768 and
// 3072: arithmetic costs little, numbers that become integers on their way cost most.
int64_t byte_unit_cost_of(const Product& p, const Tiling& t) {
  constexpr int64_t kLoad = 4500, kStart = 580, kDispatch = 20000, kPart = 21;
  constexpr int64_t kByte = 4, kNumber = 34, kPixel = 44;
  const int64_t steps = ceil_div(ceil_div(p.k, t.parts), t.depth);
  const int64_t numbers = is_of_image(p) ? kPixel : kNumber;
  const int64_t loads = p.a_has_bytes ? t.m * kByte + t.n * numbers : t.m * numbers + t.n * kByte;
  const int64_t rounds = ceil_div(groups_of(p, t), kProcessors);
  const int64_t step = std::max(kLoad, rounds * (t.m * t.n + loads) * t.depth / 64);
  return steps * step + rounds * kStart +
         (t.parts > 1 ? kDispatch + t.parts * (p.m * p.n / kPart) : 0);
}

// Whether there is memory for the parts, which a plan for other sizes may not have taken.
bool may_have(const Call& call, const Product& p, int64_t parts) {
  int64_t elements = p.m;
  for (const int64_t factor : {p.n, p.batch, parts}) {
    if (__builtin_mul_overflow(elements, factor, &elements)) return false;
  }
  return parts == 1 || (elements <= kMostShared && call.has_room(elements));
}

Tiling least_of(const Call& call, const Product& p, Span<const Tiling> tiles,
                int64_t (*cost)(const Product&, const Tiling&), int64_t most_parts) {
  Tiling best = tiles[0];
  int64_t least = INT64_MAX;
  for (Tiling tiling : tiles) {
    while (tiling.parts <= most_parts &&
           (tiling.parts == 1 || p.k / tiling.parts >= 2 * tiling.depth) &&
           may_have(call, p, tiling.parts)) {
      const int64_t estimated = cost(p, tiling);
      if (estimated < least) best = tiling;
      least = std::min(least, estimated);
      tiling.parts *= 2;
    }
  }
  return best;
}

}  // namespace

Tiling tiling_for_processors(const Call& call, const Product& p) {
  constexpr Tiling kTiles[] = {{64, 64, 16}, {64, 32, 16}, {32, 64, 16}, {32, 32, 16}};
  return least_of(call, p, kTiles, cost_of, 32);
}

Tiling tiling_for_bytes(const Call& call, const Product& p) {
  constexpr Tiling kTiles[] = {{64, 64, 64}, {64, 32, 64}, {32, 64, 64}, {32, 32, 64}};
  return least_of(call, p, kTiles, byte_cost_of, 16);
}

int64_t cost_for_processors(const Call& call, const Product& p) {
  return cost_of(p, tiling_for_processors(call, p));
}

Tiling tiling_for_matrix_units(const Call& call, const Product& p) {
  constexpr Tiling kTiles[] = {{64, 64, 64, 1, 2, 1},
                               {64, 32, 64, 1, 1, 1},
                               {32, 64, 64, 1, 1, 1},
                               {32, 32, 64, 1, 1, 1},
                               {32, 32, 128, 1, 1, 1}};
  constexpr Tiling kLargeTiles[] = {{128, 128, 32, 1, 2, 2}};  // 16 subgroups.
  constexpr uint32_t kMostLanes = 32;
  const Tiling small = least_of(call, p, kTiles, unit_cost_of, 8);
  if (is_of_image(p) || call.limits().subgroup > kMostLanes) return small;
  const Tiling large = least_of(call, p, kLargeTiles, unit_cost_of, 8);
  return unit_cost_of(p, large) < unit_cost_of(p, small) ? large : small;
}

Tiling tiling_for_byte_units(const Call& call, const Product& p) {
  constexpr Tiling kTiles[] = {{32, 32, 64}, {64, 32, 64}, {64, 32, 128}, {64, 64, 64}};
  // Larger tiles have more invocations than a workgroup may have, where fragments are small.
  size_t count = 1;
  while (count < 4 && byte_unit_threads(call.limits(), kTiles[count]) <= kMostThreads) ++count;
  return least_of(call, p, {kTiles, count}, byte_unit_cost_of, 16);
}

int64_t byte_unit_threads(const Limits& limits, const Tiling& t) {
  return t.m * t.n / (limits.byte_fragment[0] * limits.byte_fragment[1]) * limits.subgroup;
}

}  // namespace taper::vulkan
