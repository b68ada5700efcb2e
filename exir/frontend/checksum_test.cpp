#include "exir/frontend/checksum.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <vector>

namespace taper::exir {
namespace {

TEST(Checksum, KnowsTheCheckValue) {
  const char* digits = "123456789";
  EXPECT_EQ(crc32_of({reinterpret_cast<const uint8_t*>(digits), 9}), 0xcbf43926u);
  EXPECT_EQ(crc32_of({}), 0u);
}

TEST(Checksum, AgreesWithZlibAtEveryLengthAndAddress) {
  std::vector<uint8_t> bytes(400);
  uint32_t state = 1;
  for (uint8_t& byte : bytes)
    byte = static_cast<uint8_t>((state = state * 1664525 + 1013904223) >> 24);
  for (size_t start = 0; start < 3; ++start) {
    for (size_t size = 0; size + start <= bytes.size(); ++size) {
      const Bytes part(bytes.data() + start, size);
      ASSERT_EQ(crc32_of(part), size ? crc32_z(0, part.data(), size) : 0u) << start << " " << size;
    }
  }
}

}  // namespace
}  // namespace taper::exir
