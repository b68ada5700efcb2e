// Which depthwise convolutions XNNPACK has kernels for, and which the device computes in a stage of
// its own. The compiler splits the filters that neither takes whole; the device looks here before
// it makes a stage. So what is left whole is what the device takes.

#pragma once

#include <cstdint>

namespace taper::xnnpack {

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

// Windows of this many taps are bound by memory, and XNNPACK reads the image in the order in which
// it lies.
inline constexpr int64_t kMostMemoryBoundTaps = 9;

// Multiplications that take about as long as one more stage costs.
inline constexpr uint64_t kLeastStageProducts = uint64_t{1} << 16;

// Whether a depthwise convolution of floats with so many results is a stage of its own where the
// processor has vectors.
constexpr bool is_depthwise_stage(const DepthwiseWindow& w, uint64_t results) {
  return w.taps() > kMostMemoryBoundTaps && w.multiplier == 1 && w.step_down == w.step_across &&
         (w.step_down == 1 || w.step_down == 2) && w.dilation_down == 1 && w.dilation_across == 1 &&
         results >= kLeastStageProducts / static_cast<uint64_t>(w.taps());
}

}  // namespace taper::xnnpack
