// A stage that replaces each byte by an entry of a table.

#pragma once

#include "backends/xnnpack/runtime/stages/stage.h"

namespace taper::xnnpack {

class TableStage final : public Stage {
 public:
  TableStage(const XnnNode& node, Span<const XnnValue> values, pthreadpool_t pool)
      : input_(node.inputs[0]),
        output_(node.output),
        table_(values[node.inputs[1]].data),
        pool_(pool) {}

  Status reshape(Span<const XnnValue> values) override;
  Status bind(Span<void* const> places, void* scratch) override;
  Status run() override;

 private:
  static void run_part(void* stage, size_t first, size_t count);

  const uint32_t input_, output_;
  const uint8_t* const table_;  // 256 bytes, from the entry of -128 to that of 127.
  const pthreadpool_t pool_;
  size_t count_ = 0;
  const uint8_t* from_ = nullptr;
  uint8_t* to_ = nullptr;
};

}  // namespace taper::xnnpack
