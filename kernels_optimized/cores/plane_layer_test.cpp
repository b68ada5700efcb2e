// Layers over planes at every level that this processor supports, against double.

#include "kernels_optimized/cores/plane_layer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels_optimized/cores/gemm.h"
#include "kernels_optimized/engine/dispatch.h"
#include "test/support/numbers.h"

namespace taper::optimized {
namespace {

// Computes all places in two parts, and checks that nothing is written beyond them.
void expect_layer(int64_t ins, int64_t outs, int64_t area, bool has_bias, float max) {
  const std::vector<float> in = test::numbers(ins * area, 31),
                           filter = test::numbers(ins * outs, 7), bias = test::numbers(outs, 3);
  std::vector<float> out(static_cast<size_t>(outs * area) + 1, 77);
  PlaneLayer layer;
  layer.in = in.data();
  layer.filter = filter.data();
  layer.bias = has_bias ? bias.data() : nullptr;
  layer.out = out.data();
  layer.ins = ins;
  layer.outs = outs;
  layer.area = area;
  layer.min = -1;
  layer.max = max;
  plane_layer(layer, 0, area / 3);
  plane_layer(layer, area / 3, area - area / 3);
  for (int64_t o = 0; o < outs; ++o) {
    for (int64_t p = 0; p < area; ++p) {
      double sum = has_bias ? static_cast<double>(bias[static_cast<size_t>(o)]) : 0;
      for (int64_t k = 0; k < ins; ++k) {
        sum += static_cast<double>(filter[static_cast<size_t>(o * ins + k)]) *
               static_cast<double>(in[static_cast<size_t>(k * area + p)]);
      }
      const double want = std::fmin(std::fmax(sum, -1), static_cast<double>(max));
      ASSERT_NEAR(out[static_cast<size_t>(o * area + p)], want, 1e-5) << o << ", " << p;
    }
  }
  EXPECT_EQ(out.back(), 77);
}

TEST(PlaneLayer, OfAnyNumberOfPlanes) {
  for (Level limit : kLevels) {
    limit_level(limit);
    if (!has_vectors()) continue;
    for (int64_t ins : {1, 3, 4, 16}) {
      for (int64_t outs : {1, 4, 6, 9}) {
        for (int64_t area : {1, 5, 16, 117}) expect_layer(ins, outs, area, outs != 6, 2);
      }
    }
  }
  limit_level(Level::kAvx512);
}

}  // namespace
}  // namespace taper::optimized
