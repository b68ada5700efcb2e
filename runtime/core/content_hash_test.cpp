// Compares with published values of XXH64, and values of its reference implementation.

#include "taper/content_hash.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

namespace taper {
namespace {

uint64_t hash(const char* text, uint64_t seed = 0) {
  return content_hash({reinterpret_cast<const uint8_t*>(text), std::strlen(text)}, seed);
}

TEST(ContentHash, IsXxh64) {
  EXPECT_EQ(hash(""), 0xef46db3751d8e999u);
  EXPECT_EQ(hash("abc"), 0x44bc2cf5ad770999u);
  EXPECT_EQ(hash("xxhash", 20141025), 0xb559b98d844e0635u);
  EXPECT_EQ(hash("Nobody inspects the spammish repetition"), 0xfbcea83c8a378bf1u);
}

TEST(ContentHash, TakesEveryLength) {
  std::vector<uint8_t> bytes(101);
  std::iota(bytes.begin(), bytes.end(), uint8_t{0});
  EXPECT_EQ(content_hash(bytes), 0xe99038495f85381eu);
  EXPECT_EQ(content_hash(bytes, 7), 0xe878e9791dbc64fau);
  bytes.resize(32);
  EXPECT_EQ(content_hash(bytes), 0xcbf59c5116ff32b4u);
}

}  // namespace
}  // namespace taper
