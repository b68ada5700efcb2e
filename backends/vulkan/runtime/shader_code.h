// The shaders that the program is linked with.
//
// SPIR-V is packed to about two fifths of its size. Words become bytes of seven bits, the last of
// which has its eighth bit clear; numbers that are near to the last result's are written as
// differences:
//
//     module     magic version generator bound 0 | %7 = OpFAdd %3 %5 %6     | ...
//     packed     as they are                     | opcode and length, 3,
//                                                  7 - %last, %7 - 5, %7 - 6
//
// The compiler packs them, since it alone is there wherever the tree is built.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "taper/span.h"

namespace taper::vulkan {

struct ShaderCode {
  std::string_view name;  // As planner/shaders.def has it.
  size_t words;           // Of SPIR-V.
  Span<const uint8_t> packed;
};

// All of them, unless the program has a table of those that its payloads need, which
// `taper select` writes.
Span<const ShaderCode* const> shader_code();

// Writes code.words words.
void unpack(const ShaderCode& code, uint32_t* words);

namespace packing {

inline constexpr size_t kHeaderWords = 5;
inline constexpr uint32_t kShort = 15;  // An instruction of more words has its length after it.

constexpr uint32_t zigzag(uint32_t difference) {
  return difference << 1 ^ (difference >> 31 != 0 ? UINT32_MAX : 0);
}

constexpr uint32_t from_zigzag(uint32_t value) {
  return value >> 1 ^ ((value & 1) != 0 ? UINT32_MAX : 0);
}

// Which word of an instruction is the result, after which the others are written as differences.
inline constexpr size_t kResult = 2;

// Counts bytes, and writes them if there is a place for them.
struct Output {
  uint8_t* bytes = nullptr;
  size_t count = 0;

  constexpr void put(uint32_t value) {
    for (; value >= 128; value >>= 7) put_byte(static_cast<uint8_t>(value | 128));
    put_byte(static_cast<uint8_t>(value));
  }
  constexpr void put_byte(uint8_t byte) {
    if (bytes != nullptr) bytes[count] = byte;
    ++count;
  }
};

constexpr void pack(const uint32_t* words, size_t count, Output& out) {
  size_t at = 0;
  for (; at < kHeaderWords && at < count; ++at) out.put(words[at]);
  uint32_t last = 0;  // The last result.
  while (at < count) {
    const uint32_t length = words[at] >> 16, opcode = words[at] & 0xffff;
    out.put(opcode << 4 | (length < kShort ? length : kShort));
    if (length >= kShort) out.put(length);
    for (size_t i = 1; i < length; ++i) {
      const uint32_t word = words[at + i];
      if (i == 1) {
        out.put(word);
      } else if (i == kResult) {
        out.put(zigzag(word - last));
        last = word;
      } else {
        out.put(zigzag(last - word));
      }
    }
    at += length > 0 ? length : 1;
  }
}

template <size_t kCount>
constexpr size_t packed_size(const uint32_t (&words)[kCount]) {
  Output out;
  pack(words, kCount, out);
  return out.count;
}

template <size_t kBytes>
struct PackedShader {
  uint8_t bytes[kBytes];
};

template <size_t kBytes, size_t kCount>
constexpr PackedShader<kBytes> packed(const uint32_t (&words)[kCount]) {
  PackedShader<kBytes> result = {};
  Output out{result.bytes, 0};
  pack(words, kCount, out);
  return result;
}

}  // namespace packing
}  // namespace taper::vulkan
