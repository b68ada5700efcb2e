// A stage for attention: a product of queries and keys, perhaps scaled and masked, a softmax, and a
// product with the values. XNNPACK computes it node by node, with all scores in memory. Between
// them the dimensions of the heads may be reshaped.

#pragma once

#include "backends/xnnpack/runtime/stages/stage.h"
#include "kernels_optimized/cores/attention.h"

namespace taper::xnnpack {

// Consecutive nodes that compute attention.
struct AttentionNodes {
  size_t count = 0;  // 0 if there are none.
  // Of shape [..., queries, elements], [..., keys, elements], [..., keys, width]; the mask, if
  // there is one, [..., queries, keys]. Sizes may be 1 where others are not.
  uint32_t query = kNone, key = kNone, value = kNone, mask = kNone;
  bool key_is_turned = false, value_is_turned = false;  // The last two dimensions are swapped.
  float scale = 1;
  uint32_t products = kNone, scores = kNone;  // The scores before and after they are masked.
  uint32_t output = kNone;
};

// The attention that begins with node `first`, if there is one and it pays for a stage. `uses` is
// the number of reads of each value, or more if it is an argument.
AttentionNodes find_attention(const Subgraph& graph, Span<const uint32_t> uses, size_t first);

class AttentionStage final : public Stage {
 public:
  AttentionStage(const AttentionNodes& nodes, pthreadpool_t pool) : nodes_(nodes), pool_(pool) {}

  // Whether all nodes have the same number of heads, of the same sizes: the mask and the values
  // enlarge none.
  static bool has_plain_heads(const AttentionNodes& nodes, Span<const XnnValue> values);

  Status reshape(Span<const XnnValue> values) override;
  uint64_t scratch_bytes() const override;
  Status bind(Span<void* const> places, void* scratch) override;
  Status run() override;

 private:
  using FloatMatrix = optimized::FloatMatrix;

  // The matrices of a tensor. A head finds its own by a step for each dimension of the heads, which
  // is 0 where the tensor has size 1.
  struct Matrices {
    uint32_t id = kNone;
    Shape heads;
    const float* constant = nullptr;  // The data, if it is not an argument of the stage.
    FloatMatrix first;                // Its data is set by bind().
    int64_t size = 0, count = 0;      // The elements of a matrix, and how many there are.
    int64_t steps[kMaxRank] = {};
    uint64_t panel_floats = 0;  // Of a matrix, if they are packed.
    float* panels = nullptr;
  };

  void reshape_mask(Span<const XnnValue> values);
  // `result` is what a node computes of them.
  static Matrices matrices_of(uint32_t id, uint32_t result, Span<const XnnValue> values,
                              bool is_turned);
  static int64_t number_of(const Matrices& m, size_t head);
  static FloatMatrix matrix_of(const Matrices& m, size_t head);
  // Tasks of the pool: the panels of a matrix of keys or values; a block of queries of a head.
  static void pack(void* stage, size_t matrix);
  static void run_block(void* stage, size_t thread, size_t head, size_t block);

  const AttentionNodes nodes_;
  const pthreadpool_t pool_;
  size_t head_count_ = 0;
  int64_t queries_ = 0, block_ = 0;
  optimized::AttentionHead sizes_;  // What all heads have in common.
  Matrices query_, key_, value_, mask_;
  uint64_t block_floats_ = 0;
  float* scores_ = nullptr;
  float* out_ = nullptr;
};

}  // namespace taper::xnnpack
