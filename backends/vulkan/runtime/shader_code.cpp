#include "backends/vulkan/runtime/shader_code.h"

namespace taper::vulkan {
namespace {

uint32_t take(const uint8_t*& from) {
  uint32_t value = 0;
  for (int shift = 0;; shift += 7) {
    const uint8_t byte = *from++;
    value |= static_cast<uint32_t>(byte & 127) << shift;
    if (byte < 128) return value;
  }
}

}  // namespace

void unpack(const ShaderCode& code, uint32_t* words) {
  const uint8_t* from = code.packed.data();
  size_t at = 0;
  for (; at < packing::kHeaderWords && at < code.words; ++at) words[at] = take(from);
  uint32_t last = 0;
  while (at < code.words) {
    const uint32_t head = take(from), opcode = head >> 4;
    const uint32_t brief = head & packing::kShort;
    const uint32_t length = brief < packing::kShort ? brief : take(from);
    words[at++] = length << 16 | opcode;
    for (size_t i = 1; i < length; ++i, ++at) {
      if (i == 1) {
        words[at] = take(from);
      } else if (i == packing::kResult) {
        last += packing::from_zigzag(take(from));
        words[at] = last;
      } else {
        words[at] = last - packing::from_zigzag(take(from));
      }
    }
  }
}

}  // namespace taper::vulkan
