#include "backends/vulkan/planner/ops/packed.h"

namespace taper::vulkan {

Operand packed(Call& call, const Operand& from, const Packing& p) {
  struct Push {
    uint32_t count, k, eights, rows, matrix, row, step;
  };
  const int64_t eights = packed_length(p.k) / 8;
  const auto make = [&](const Operand& out) {
    const auto u32 = [](int64_t value) { return static_cast<uint32_t>(value); };
    const Push push = {u32(p.count * eights), u32(p.k),   u32(eights), u32(p.rows),
                       u32(p.matrix),         u32(p.row), u32(p.step)};
    call.dispatch(Shader::pack_halves)
        .push(push)
        .writes(out)
        .reads(from)
        .groups_for(p.count * eights, 256);
  };
  Operand out;
  const bool is_new = call.shared(from, p.step, p.count * eights * 4, out);
  if (is_new) make(out);
  return out;
}

}  // namespace taper::vulkan
