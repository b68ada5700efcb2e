// sort and topk against the portable kernels, which they must equal: rows shorter and longer than
// temp memory, NaN, zeros of both signs, equal elements, along and across memory.

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "kernels_portable/engine/convert.h"
#include "kernels_portable/kernel_table.h"
#include "test/support/call_fast.h"
#include "test/support/test_tensor.h"

namespace taper::optimized {
namespace {

using test::TestTensor;

constexpr ScalarType kTypes[] = {ScalarType::kFloat,    ScalarType::kDouble, ScalarType::kHalf,
                                 ScalarType::kBFloat16, ScalarType::kInt,    ScalarType::kLong,
                                 ScalarType::kByte,     ScalarType::kBool};

class Sorts : public testing::Test {
 protected:
  // Few different values, some of them special, or many.
  TestTensor numbers(ScalarType type, std::vector<int32_t> sizes, bool few) {
    TestTensor result(type, std::move(sizes));
    const double special[] = {0.0, -0.0, std::nan(""), INFINITY, -INFINITY, 1, -1};
    const double scale = type == ScalarType::kLong && !few ? 1e15 : 1000;
    std::uniform_real_distribution<double> range(-scale, scale);
    for (int64_t i = 0; i < result->numel(); ++i) {
      double x = range(random_);
      if (few) x = is_floating(type) ? special[random_() % 7] : std::round(x / 300);
      if (type == ScalarType::kBool) x = x > 0;
      if (type == ScalarType::kByte) x = std::abs(x) / 4;
      portable::store_one(x, portable::element(result->mutable_data(), i, type), type);
    }
    return result;
  }

  static void run(KernelTable table, const char* name, std::vector<EValue> slots) {
    std::vector<EValue*> args;
    for (EValue& slot : slots) args.push_back(&slot);
    std::vector<unsigned char> temp(size_t{1} << 20);
    KernelContext context({temp.data(), temp.size()});
    ASSERT_TRUE(find_kernel(table, name)->run(context, args.data()).ok()) << name;
  }

  // Sorts both ways, or takes the first k, by both libraries.
  void check(ScalarType type, const std::vector<int32_t>& sizes, int64_t dim, int64_t k, bool few) {
    TestTensor x = numbers(type, sizes, few);
    std::vector<int32_t> out = sizes;
    if (k != 0) out.at(static_cast<size_t>(dim)) = static_cast<int32_t>(k);
    for (const bool first : {false, true}) {
      TestTensor values[] = {TestTensor(type, out), TestTensor(type, out)};
      TestTensor indices[] = {TestTensor(ScalarType::kLong, out),
                              TestTensor(ScalarType::kLong, out)};
      for (const size_t fast : {0, 1}) {
        const KernelTable table = fast != 0 ? optimized_kernels() : portable::portable_kernels();
        const EValue to(&*values[fast]), at(&*indices[fast]);
        if (k == 0) {
          run(table, "aten::sort.values", {EValue(&*x), EValue(dim), EValue(first), to, at});
        } else {
          run(table, "aten::topk.values",
              {EValue(&*x), EValue(k), EValue(dim), EValue(first), EValue(true), to, at});
        }
      }
      const size_t bytes = static_cast<size_t>(values[0]->numel()) * element_size(type);
      EXPECT_EQ(indices[0].values<int64_t>(), indices[1].values<int64_t>());
      EXPECT_EQ(std::memcmp(values[0]->const_data(), values[1]->const_data(), bytes), 0);
      if (HasFailure())
        FAIL() << static_cast<int>(type) << " " << sizes[0] << " " << dim << " " << k;
    }
  }

 private:
  std::mt19937 random_{11};
};

TEST_F(Sorts, WholeRows) {
  for (const ScalarType type : kTypes) {
    for (const bool few : {false, true}) {
      for (const int32_t length : {1, 47, 48, 300, 5000}) check(type, {3, length}, 1, 0, few);
      check(type, {70, 5}, 0, 0, few);
      check(type, {2, 90, 7}, 1, 0, few);
      check(type, {70000}, 0, 0, few);
    }
  }
}

TEST_F(Sorts, TheFirstOnes) {
  for (const ScalarType type : kTypes) {
    for (const bool few : {false, true}) {
      for (const int64_t k : {1, 5, 64, 65, 400, 690, 700}) check(type, {3, 700}, 1, k, few);
      check(type, {100, 6}, 0, 7, few);
      check(type, {2, 120, 7}, 1, 90, few);
      check(type, {30000}, 0, 1000, few);
      check(type, {70000}, 0, 69990, few);
    }
  }
}

}  // namespace
}  // namespace taper::optimized
