// A list of integers as an argument of a kernel, for tests.

#pragma once

#include <cstdint>
#include <vector>

#include "taper/evalue.h"

namespace taper::test {

struct Ints {
  explicit Ints(const std::vector<int64_t>& items)
      : values(items.begin(), items.end()), unboxed(items.size()) {
    for (EValue& value : values) slots.push_back(&value);
    list = {slots.data(), unboxed.data()};
  }
  EValue value() { return EValue(&list, static_cast<uint32_t>(slots.size())); }

  std::vector<EValue> values;
  std::vector<EValue*> slots;
  std::vector<int64_t> unboxed;
  BoxedIntList list{};
};

}  // namespace taper::test
