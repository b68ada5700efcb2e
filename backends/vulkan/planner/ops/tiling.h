// How a product is divided among workgroups.

#pragma once

#include "backends/vulkan/planner/ops/product.h"

namespace taper::vulkan {

inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

struct Tiling {
  int64_t m, n;                  // What a workgroup makes.
  int64_t depth;                 // How much of k it has at once.
  int64_t parts = 1;             // Workgroups that share a tile.
  int64_t down = 1, across = 1;  // Fragments that a subgroup of matrix_units.comp makes.
};

// For gemm.comp, and an estimate of its time: units of about 8 ns.
Tiling tiling_for_processors(const Call& call, const Product& p);
int64_t cost_for_processors(const Call& call, const Product& p);
// For gemm_bytes.comp.
Tiling tiling_for_bytes(const Call& call, const Product& p);
// For matrix_units.comp.
Tiling tiling_for_matrix_units(const Call& call, const Product& p);
// For byte_units.comp, of which each subgroup makes one fragment; and its invocations.
Tiling tiling_for_byte_units(const Call& call, const Product& p);
int64_t byte_unit_threads(const Limits& limits, const Tiling& t);

}  // namespace taper::vulkan
