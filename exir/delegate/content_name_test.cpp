// Names by content: contents that must have different names.

#include "exir/delegate/content_name.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace taper::exir {
namespace {

std::string name_of(const std::vector<float>& numbers) {
  TensorData data;
  data.data = reinterpret_cast<const uint8_t*>(numbers.data());
  data.bytes = numbers.size() * sizeof(float);
  return content_name(data);
}

TEST(ContentName, TellsSignsApart) {  // Tables of sines differ in nothing else.
  std::set<std::string> names;
  for (int signs = 0; signs < 256; ++signs) {
    std::vector<float> numbers;
    for (int i = 0; i < 8; ++i) numbers.push_back((signs >> i & 1) != 0 ? -0.5f : 0.5f);
    names.insert(name_of(numbers));
  }
  EXPECT_EQ(names.size(), 256u);
}

TEST(ContentName, TellsLengthsApart) {
  EXPECT_NE(name_of({}), name_of({0}));
  EXPECT_NE(name_of({0}), name_of({0, 0}));
  EXPECT_EQ(name_of({1, 2, 3}), name_of({1, 2, 3}));
}

}  // namespace
}  // namespace taper::exir
