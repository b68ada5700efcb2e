// Looks up bytes at every level that this processor supports.

#include "kernels_optimized/cores/bytes/byte_table.h"

#include <gtest/gtest.h>

#include <vector>

#include "kernels_optimized/engine/dispatch.h"

namespace taper::optimized {
namespace {

// Every byte at every place of a vector, and counts that are no whole number of vectors.
TEST(ByteTable, FindsTheEntryOfEachByte) {
  uint8_t table[256];
  for (size_t i = 0; i < 256; ++i) table[i] = static_cast<uint8_t>(i * 167 + 13);
  for (const Level limit : kLevels) {
    limit_level(limit);
    for (const size_t count : {size_t{0}, size_t{1}, size_t{63}, size_t{256}, size_t{16741}}) {
      std::vector<uint8_t> in(count), out(count + 1, 7);
      for (size_t i = 0; i < count; ++i) in[i] = static_cast<uint8_t>(i + i / 256);
      look_up_bytes(table, in.data(), count, out.data());
      for (size_t i = 0; i < count; ++i) {
        const int place = static_cast<int8_t>(in[i]) + 128;
        ASSERT_EQ(out[i], table[place]) << "byte " << i << " of " << count;
      }
      EXPECT_EQ(out[count], 7);
      look_up_bytes(table, in.data(), count, in.data());
      for (size_t i = 0; i < count; ++i) ASSERT_EQ(in[i], out[i]);
    }
  }
  limit_level(Level::kAvx512);
}

}  // namespace
}  // namespace taper::optimized
