// The table of ExecuTorch's kernels is sorted, and knows what its wheel has and lacks.

#include "exir/ops/executorch_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "exir/ops/builtin.h"

namespace taper::exir {
namespace {

TEST(ExecutorchKernels, AreSorted) {
  const std::vector<std::string_view> names = {
#define TAPER_EXECUTORCH_KERNEL(name) name,
#include "exir/ops/executorch_kernels.def"
#undef TAPER_EXECUTORCH_KERNEL
  };
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

TEST(ExecutorchKernels, WhatIsThereAndWhatIsNot) {
  EXPECT_TRUE(executorch_has_kernel("aten::add.out"));
  EXPECT_TRUE(executorch_has_kernel("executorch_prim::et_view.default"));
  EXPECT_TRUE(executorch_has_kernel("quantized_decomposed::dequantize_per_tensor.out"));
  EXPECT_FALSE(executorch_has_kernel("aten::sort.values_stable"));
  EXPECT_FALSE(executorch_has_kernel("taper::lstm.out"));
}

TEST(ExecutorchKernels, ItsConvolutionsHaveAtMostTwoDimensions) {
  const auto graph = parse_graph(R"(graph "g" {
  input %x: float32[1, 1, 4, 4]
  input %v: float32[1, 1, 4, 4, 4]
  input %w: float32[1, 1, 1, 1]
  input %k: float32[1, 1, 1, 1, 1]
  %y: float32[1, 1, 4, 4] = aten::convolution(%x, %w, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1)
  %z: float32[1, 1, 4, 4, 4] = aten::convolution(%v, %k, None, [1, 1, 1], [0, 0, 0], [1, 1, 1], False, [0, 0, 0], 1)
  return %y, %z
})");
  EXPECT_TRUE(executorch_takes(*graph->nodes[0]));
  EXPECT_FALSE(executorch_takes(*graph->nodes[1]));
}

TEST(ExecutorchKernels, ItsLinearTakesRows) {
  const auto graph = parse_graph(R"(graph "g" {
  input %x: float32[2, 4]
  input %v: float32[4]
  input %w: float32[3, 4]
  %y: float32[2, 3] = aten::linear(%x, %w, None)
  %z: float32[3] = aten::linear(%v, %w, None)
  return %y, %z
})");
  EXPECT_TRUE(executorch_takes(*graph->nodes[0]));
  EXPECT_FALSE(executorch_takes(*graph->nodes[1]));
}

}  // namespace
}  // namespace taper::exir
