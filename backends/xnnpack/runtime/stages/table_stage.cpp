// Looks up bytes in parts that threads share; see table_stage.h.

#include "backends/xnnpack/runtime/stages/table_stage.h"

#include <pthreadpool.h>

#if defined(TAPER_OPTIMIZED)
#include "kernels_optimized/cores/bytes/byte_table.h"
#endif

namespace taper::xnnpack {
namespace {

constexpr size_t kTaskBytes = 32768;

}  // namespace

Status TableStage::reshape(Span<const XnnValue> values) {
  count_ = static_cast<size_t>(element_count(values[output_].shape));
  return {};
}

Status TableStage::bind(Span<void* const> places, void*) {
  from_ = static_cast<const uint8_t*>(places[input_]);
  to_ = static_cast<uint8_t*>(places[output_]);
  return {};
}

void TableStage::run_part(void* stage, size_t first, size_t count) {
  const auto& self = *static_cast<TableStage*>(stage);
  const uint8_t* from = self.from_ + first;
  uint8_t* to = self.to_ + first;
#if defined(TAPER_OPTIMIZED)
  optimized::look_up_bytes(self.table_, from, count, to);
#else
  for (size_t i = 0; i < count; ++i) to[i] = self.table_[from[i] ^ 0x80];
#endif
}

Status TableStage::run() {
  pthreadpool_parallelize_1d_tile_1d(pool_, run_part, this, count_, kTaskBytes, 0);
  return {};
}

}  // namespace taper::xnnpack
