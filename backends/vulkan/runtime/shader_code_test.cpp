// Tests that shaders are what was packed.

#include "backends/vulkan/runtime/shader_code.h"

#include <gtest/gtest.h>

#include <vector>

#include "backends/vulkan/planner/shader_sets.h"

namespace taper::vulkan {
namespace {

// A header; an instruction of each form: no operand, one, a result, far differences, a long one.
constexpr uint32_t kWords[] = {
    0x07230203,
    0x00010300,
    0xffffffff,
    9,
    0,               //
    1u << 16 | 253,  //
    2u << 16 | 17,
    1,  //
    5u << 16 | 129,
    3,
    7,
    5,
    6,  //
    4u << 16 | 43,
    3,
    0xfffffffe,
    0x3f800000,  //
    17u << 16 | 65535,
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    10,
    11,
    12,  //
    13,
    14,
    0x80000000,
    0,
};
constexpr auto kPacked = packing::packed<packing::packed_size(kWords)>(kWords);

TEST(ShaderCode, IsWhatWasPacked) {
  const size_t count = sizeof(kWords) / sizeof(*kWords);
  std::vector<uint32_t> words(count + 1, 77);
  unpack({"test", count, kPacked.bytes}, words.data());
  for (size_t i = 0; i < count; ++i) EXPECT_EQ(words[i], kWords[i]) << i;
  EXPECT_EQ(words[count], 77u);
}

TEST(ShaderCode, EveryShaderIsAModule) {
  for (const char* name : shader_names()) {
    size_t found = 0;
    for (const ShaderCode* each : shader_code()) {
      if (each->name != name) continue;
      ++found;
      std::vector<uint32_t> words(each->words);
      unpack(*each, words.data());
      EXPECT_EQ(words[0], 0x07230203u) << name;
      size_t at = 5;  // Instructions say how long they are, so the last one ends where words do.
      while (at < words.size() && words[at] >> 16 != 0) at += words[at] >> 16;
      EXPECT_EQ(at, words.size()) << name;
    }
    EXPECT_EQ(found, 1u) << name;
  }
}

}  // namespace
}  // namespace taper::vulkan
