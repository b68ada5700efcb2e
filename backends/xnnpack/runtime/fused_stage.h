// Nodes in a row that XNNPACK would compute one after the other, each of them through memory, as
// one pass of ours; and single ones that XNNPACK has no fast kernel for.

#pragma once

#include "backends/xnnpack/runtime/stage.h"
#include "kernels_optimized/fused.h"
#include "kernels_optimized/softmax.h"

namespace taper::xnnpack {

// Some nodes of a graph that are one function of their inputs.
struct Fusion {
  enum class Kind : uint8_t {
    kNone,
    kSwish,    // x * sigmoid(x)
    kNorm,     // Over the last dimension: (x - mean) / sqrt(variance + eps) * weight + bias
    kRms,      // The same without the mean.
    kScale,    // x * weight + bias within bounds, by the last dimension: a batch norm.
    kSum,      // a + b within bounds, of one shape.
    kSoftmax,  // Along any dimension, for which XNNPACK turns the tensor twice.
    kFunction  // e^x and others that XNNPACK computes one by one.
  };
  Kind kind = Kind::kNone;
  optimized::Function function = optimized::Function::kExp;
  size_t nodes = 0;  // In a row.
  uint32_t inputs[2] = {kNone, kNone};
  uint32_t output = kNone;
  // Constants of the graph; null: none.
  const float* weight = nullptr;
  const float* bias = nullptr;
  float eps = 0;
  // Of kNorm, if not 0: weight and bias have an entry for each of so many channels, which holds for
  // `area` elements.
  uint32_t channels = 0, area = 0;
  float min = 0, max = 0;
  uint32_t axis = 0;  // Of kSoftmax.
};

// What begins with that node, if anything does and it is worth a stage. `uses` says of every value
// how often it is read, or more if it is an argument.
Fusion find_fusion(const Graph& graph, Span<const uint32_t> uses, size_t first);

class FusedStage final : public Stage {
 public:
  FusedStage(const Fusion& fusion, pthreadpool_t pool) : fusion_(fusion), pool_(pool) {}

  Status reshape(Span<const Value> values) override;
  Status bind(Span<void* const> places, void* scratch) override;
  Status run() override;

 private:
  // A task of the pool: rows [begin, begin + count).
  static void run_rows(void* stage, size_t begin, size_t count);
  // Softmax of so many neighbouring lines.
  static void run_lines(void* stage, size_t task);

  const Fusion fusion_;
  const pthreadpool_t pool_;
  size_t count_ = 0, width_ = 1;  // Elements, of all and of a row.
  portable::AroundDim around_;    // Of kSoftmax.
  const float* inputs_[2] = {};
  float* output_ = nullptr;
};

}  // namespace taper::xnnpack
