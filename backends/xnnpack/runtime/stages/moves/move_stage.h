// A stage for a result that is a part of the input's bytes, or all: a reshape, or a slice whose
// elements follow one another. Usually it has the same memory as the input, and nothing is copied;
// XNNPACK copies it, and its reshape infers at most one size.

#pragma once

#include "backends/xnnpack/runtime/stages/stage.h"

namespace taper::xnnpack {

class MoveStage final : public Stage {
 public:
  // Whether a node is a slice of floats whose elements follow one another in the input.
  static bool is_range(const XnnNode& node, Span<const XnnValue> values);
  // Where the result begins among the bytes of the input; 0 for a reshape.
  static size_t begin_of(const XnnNode& node, Span<const XnnValue> values);

  // The node must live as long as this.
  explicit MoveStage(const XnnNode& node) : node_(node) {}

  Status reshape(Span<const XnnValue> values) override;
  Status bind(Span<void* const> places, void* scratch) override;
  Status run() override;

 private:
  const XnnNode& node_;
  size_t begin_ = 0, bytes_ = 0;
  const uint8_t* from_ = nullptr;
  void* to_ = nullptr;
};

}  // namespace taper::xnnpack
