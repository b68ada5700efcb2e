// States for which depthwise convolutions XNNPACK has kernels, and which the device computes in a
// stage. The compiler splits the filters that neither takes whole, and the device uses the same
// conditions to create stages. So the device takes exactly the filters that are left whole.

#pragma once

#include <cstdint>

namespace taper::xnnpack {

// The parameters of a depthwise convolution.
struct DepthwiseWindow {
  int64_t height = 1, width = 1;
  int64_t step_down = 1, step_across = 1;
  int64_t dilation_down = 1, dilation_across = 1;
  int64_t multiplier = 1;  // Results per channel.

  constexpr int64_t taps() const { return height * width; }
};

// The most taps that XNNPACK has kernels for. It computes larger windows without them, which takes
// ten times as long.
inline constexpr int64_t kMostXnnpackTaps = 25;

// The least taps of which several results beside each other share enough.
inline constexpr int64_t kLeastStageTaps = 9;

// The number of multiplications that take about as long as one more stage costs.
inline constexpr uint64_t kLeastStageProducts = uint64_t{1} << 16;

// Whether a depthwise convolution of floats with this many results is a separate stage, if the
// processor has vectors.
constexpr bool is_depthwise_stage(const DepthwiseWindow& w, uint64_t results) {
  const bool is_dense = w.dilation_down == 1 && w.dilation_across == 1;
  return w.taps() >= kLeastStageTaps && w.multiplier == 1 && w.step_down == w.step_across &&
         (w.step_down == 1 || (w.step_down == 2 && is_dense)) &&
         results >= kLeastStageProducts / static_cast<uint64_t>(w.taps());
}

}  // namespace taper::xnnpack
