// Pooling: every output pixel is computed from a window of its input plane, by max and average
// pooling in different ways.
//
// Outputs are computed up to 64 lanes at a time: neighbours in a row, or the channels of one pixel
// if those are contiguous. Each tap of the window is then one run of input elements.

#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels_portable/cores/vision/image.h"
#include "taper/kernel.h"

namespace taper::portable {

inline constexpr int64_t kPoolLanes = 64;

// The window along one dimension: output y covers inputs y * stride - padding + t * dilation.
struct Window {
  int64_t in;
  int64_t out;
  int64_t kernel;
  int64_t stride;
  int64_t padding;
  int64_t dilation;

  int64_t start(int64_t y) const { return y * stride - padding; }

  // How many elements of output y's window count for an average if no window is dilated. Padding
  // counts if asked for, but never what is beyond it. Without padding it is not positive if the
  // window does not overlap the input.
  int64_t extent(int64_t y, bool count_padding) const {
    const int64_t end = std::min(start(y) + kernel, in + padding);
    if (count_padding) return end - start(y);
    return std::min(end, in) - std::max(start(y), int64_t{0});
  }
};

struct Pooling {
  Images in;
  Images out;
  Window rows;
  Window columns;
};

// The options as the operators' schemas have them: lists of one number or two. An empty stride
// means the size of the kernel.
struct PoolOptions {
  IntList kernel;
  IntList stride;
  IntList padding;
  IntList dilation;
  bool ceil_mode;
};

// Checks the options of a pooling of `input` and fills in `pooling`, except for the output. `sizes`
// receives the sizes of the output, which has as many dimensions as the input.
Status describe_pooling(const Tensor& input, const PoolOptions& options, Pooling* pooling,
                        int64_t* sizes);

// Computes up to kPoolLanes outputs at a time from the taps of their windows.
template <typename T>
class PoolLanes {
 public:
  // Begins the outputs at row y, columns x, x + step, ... (step is 0 if the lanes are channels).
  virtual void begin(int64_t y, int64_t x, int64_t step, int64_t count) = 0;
  // One tap: lanes [first, first + count) read `values`, which are the elements index, index +
  // step, ... of their planes, counted in row-major order.
  virtual void add(int64_t first, int64_t count, const T* values, int64_t index, int64_t step) = 0;
  // Writes the outputs to the output tensor, from element `offset` on, `stride` elements apart.
  virtual void end(int64_t offset, int64_t stride) = 0;

 protected:
  ~PoolLanes() = default;
};

// Walks all windows. Defined for float, double and int64_t.
template <typename T>
void pool(const Pooling& pooling, PoolLanes<T>& lanes);

}  // namespace taper::portable
