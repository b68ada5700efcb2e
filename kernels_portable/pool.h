// Pooling: every output pixel gathers a window of its input plane. Max and average pooling differ
// in what they do with it.
//
// Outputs are made up to 64 lanes at a time: neighbours in a row, or channels of one pixel when
// those lie together. Each tap of the window is then one run of input elements.

#pragma once

#include <cstdint>

#include "kernels_portable/image.h"
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
};

struct Pooling {
  Images in;
  Images out;
  Window rows;
  Window columns;
};

// Checks the options of a pooling of `input` and fills in the windows. An empty stride is the
// kernel's size; every list has one number or two. `sizes` receives as many sizes as input has.
struct PoolOptions {
  IntList kernel;
  IntList stride;
  IntList padding;
  IntList dilation;
  bool ceil_mode;
};
Status describe_pooling(const Tensor& input, const PoolOptions& options, Pooling* pooling,
                        int64_t* sizes);

// What is done with the windows of up to kPoolLanes outputs.
template <typename T>
class PoolLanes {
 public:
  // The outputs at row y, columns x, x + step, ... (step is 0 when the lanes are channels).
  virtual void begin(int64_t y, int64_t x, int64_t step, int64_t count) = 0;
  // One tap: lanes [first, first + count) meet `values`, which are elements index, index + step,
  // ... of their planes, counted in row-major order.
  virtual void add(int64_t first, int64_t count, const T* values, int64_t index, int64_t step) = 0;
  // Writes the outputs, the first of which has this number in the output tensor.
  virtual void end(int64_t offset, int64_t stride) = 0;

 protected:
  ~PoolLanes() = default;
};

// Walks all windows. Defined for float, double and int64_t.
template <typename T>
void pool(const Pooling& pooling, PoolLanes<T>& lanes);

}  // namespace taper::portable
