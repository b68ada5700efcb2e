// What tests of stages share.

#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "backends/xnnpack/runtime/payload/payload_for_test.h"
#include "backends/xnnpack/runtime/stages/stages.h"

namespace taper::xnnpack {

// Numbers from about -most to most, in an order that `step` makes.
inline Floats some_numbers(size_t count, size_t step, float most = 5) {
  Floats all(count);
  for (size_t i = 0; i < count; ++i) {
    all[i] = static_cast<float>(i * step % 211) / (100 / most) - most;
  }
  return all;
}

// A payload as a graph, and how often its values are read.
struct ReadGraph {
  std::vector<uint8_t> payload;
  Subgraph graph;
  std::unique_ptr<uint32_t[]> counts;

  explicit ReadGraph(std::vector<uint8_t> bytes) : payload(std::move(bytes)) {
    const BackendInitContext context("forward", nullptr, nullptr, {});
    EXPECT_EQ(xnn_initialize(nullptr), xnn_status_success);
    EXPECT_TRUE(graph.read({payload.data(), payload.size()}, context, UINT64_MAX).ok());
    counts = count_uses(graph);
  }
  Span<const uint32_t> uses() const { return {counts.get(), graph.values().size()}; }
};

// How many stages a payload is cut into, with so many bytes more than its graph needs.
inline size_t stage_count(std::vector<uint8_t> payload, const Shared& shared = {},
                          uint64_t spare_bytes = 1 << 30) {
  const ReadGraph read(std::move(payload));
  Stages stages;
  EXPECT_TRUE(stages.build(read.graph, read.graph.total_bytes() + spare_bytes, shared).ok());
  return stages.size();
}

// Functions by their definitions.
inline double limit(double v, double low, double high) {
  return std::fmin(std::fmax(v, low), high);
}
inline double gelu(double v) { return 0.5 * v * std::erfc(-v / std::sqrt(2.0)); }
inline double hardswish(double v) { return v * limit(v + 3, 0, 6) / 6; }
inline double swish(double v) { return v / (1 + std::exp(-v)); }

}  // namespace taper::xnnpack
