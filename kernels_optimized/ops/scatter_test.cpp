// scatter_add, scatter_reduce, index_put, nonzero and masked_select against the portable kernels, which they
// must equal bit by bit.

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

constexpr ScalarType kTypes[] = {ScalarType::kFloat, ScalarType::kDouble, ScalarType::kInt,
                                 ScalarType::kLong,  ScalarType::kHalf,   ScalarType::kBool};

class Scatters : public testing::Test {
 protected:
  // Of `share` of the elements numbers, zeros of both signs elsewhere.
  TestTensor numbers(ScalarType type, std::vector<int32_t> sizes, double share = 1) {
    TestTensor result(type, std::move(sizes));
    std::uniform_real_distribution<double> range(-9, 9), part(0, 1);
    for (int64_t i = 0; i < result->numel(); ++i) {
      double x = part(random_) < share ? range(random_) : part(random_) < 0.5 ? 0.0 : -0.0;
      if (type == ScalarType::kBool) x = x != 0;
      if (part(random_) < 0.01 && is_floating(type)) x = std::nan("");
      portable::store_one(x, portable::element(result->mutable_data(), i, type), type);
    }
    return result;
  }

  TestTensor places(ScalarType type, std::vector<int32_t> sizes, int64_t limit) {
    TestTensor result(type, std::move(sizes));
    for (int64_t i = 0; i < result->numel(); ++i) {
      const auto at = static_cast<double>(static_cast<int64_t>(random_()) % limit);
      portable::store_one(at, portable::element(result->mutable_data(), i, type), type);
    }
    return result;
  }

  // Runs both kernels; the result is the last slot.
  static void compare(const char* name, const std::vector<EValue>& slots, ScalarType type,
                      const std::vector<int32_t>& sizes) {
    TestTensor results[] = {TestTensor(type, sizes, {}, ShapeDynamism::kDynamicBound),
                            TestTensor(type, sizes, {}, ShapeDynamism::kDynamicBound)};
    for (const size_t fast : {0, 1}) {
      const KernelTable table = fast != 0 ? optimized_kernels() : portable::portable_kernels();
      std::vector<EValue> all = slots;
      all.emplace_back(&*results[fast]);
      std::vector<EValue*> args;
      for (EValue& slot : all) args.push_back(&slot);
      KernelContext context;
      ASSERT_TRUE(find_kernel(table, name)->run(context, args.data()).ok()) << name;
    }
    ASSERT_EQ(results[0]->numel(), results[1]->numel()) << name;
    const size_t bytes = static_cast<size_t>(results[0]->numel()) * element_size(type);
    EXPECT_EQ(std::memcmp(results[0]->const_data(), results[1]->const_data(), bytes), 0) << name;
  }

  std::mt19937 random_{13};
};

TEST_F(Scatters, AlongEveryDimension) {
  for (const ScalarType type : kTypes) {
    if (type == ScalarType::kBool) continue;
    for (const ScalarType by : {ScalarType::kLong, ScalarType::kInt}) {
      for (const int64_t dim : {0, 1, -1}) {
        const std::vector<int32_t> sizes = {5, 7, 6};
        std::vector<int32_t> some = {4, 7, 3};
        some.at(dim < 0 ? 2 : static_cast<size_t>(dim)) = 20;
        TestTensor x = numbers(type, sizes), src = numbers(type, {20, 20, 20});
        TestTensor index = places(by, some, sizes.at(dim < 0 ? 2 : static_cast<size_t>(dim)));
        const EValue self(&*x), at(dim), from(&*src), which(&*index);
        compare("aten::scatter_add.out", {self, at, which, from}, type, sizes);
        for (const char* how : {"sum", "prod", "amax", "amin"}) {
          for (const bool include : {false, true}) {
            compare("aten::scatter_reduce.two_out",
                    {self, at, which, from, EValue(how, static_cast<uint32_t>(std::strlen(how))),
                     EValue(include)},
                    type, sizes);
          }
        }
      }
    }
  }
}

// Indices in order, repeated, negative and in a mask, for any dimension; values that broadcast.
TEST_F(Scatters, AddedWhereIndicesPoint) {
  for (const ScalarType type : kTypes) {
    const std::vector<int32_t> sizes = {3, 40, 5};
    TestTensor x = numbers(type, sizes);
    TestTensor some = places(ScalarType::kLong, {50}, 40), few = places(ScalarType::kInt, {50}, 3);
    TestTensor column = places(ScalarType::kLong, {70}, 3);
    for (int32_t i = 0; i < 30; ++i) column->mutable_data_ptr<int64_t>()[i] = i % 5 - 2;
    TestTensor runs(ScalarType::kLong, {300}), mask = numbers(ScalarType::kBool, {3, 40}, 0.5);
    for (int64_t i = 0; i < 300; ++i) runs->mutable_data_ptr<int64_t>()[i] = i % 21 - (i > 200);
    for (int32_t i = 0; i < 6; ++i) mask->mutable_data_ptr<bool>()[i] = i < 5;
    int32_t held = 0;
    for (int32_t i = 0; i < 120; ++i) held += mask->const_data_ptr<bool>()[i] ? 1 : 0;
    const struct {
      const Tensor* indices[3];
      std::vector<int32_t> values;
    } cases[] = {{{nullptr, &*some}, {3, 50, 5}},
                 {{nullptr, &*some}, {50, 1}},
                 {{nullptr, &*runs}, {3, 300, 5}},
                 {{nullptr, &*runs, nullptr}, {1}},
                 {{&*few, &*some}, {50, 5}},
                 {{&*few, nullptr, &*few}, {50, 40}},
                 {{nullptr, nullptr, &*column}, {3, 40, 70}},
                 {{&*column, nullptr, &*column}, {70, 40}},
                 {{nullptr, nullptr, &*few}, {3, 40, 50}},
                 {{&*mask}, {held, 5}}};
    for (const auto& each : cases) {
      SCOPED_TRACE(&each - cases);
      TestTensor values = numbers(type, each.values);
      EValue slots[3];
      EValue* items[3];
      Tensor* unboxed[3];
      for (size_t d = 0; d < 3; ++d) {
        if (each.indices[d] != nullptr) slots[d] = EValue(const_cast<Tensor*>(each.indices[d]));
        items[d] = &slots[d];
      }
      BoxedTensorList list = {items, unboxed};
      const uint32_t count = each.indices[2] != nullptr ? 3 : each.indices[1] != nullptr ? 2 : 1;
      compare("aten::index_put.out",
              {EValue(&*x), EValue(&list, count, Tag::kOptionalTensorList), EValue(&*values),
               EValue(true)},
              type, sizes);
    }
  }
}

TEST_F(Scatters, IndicesOutOfRangeAreErrors) {
  TestTensor x = numbers(ScalarType::kFloat, {3, 4}), src = numbers(ScalarType::kFloat, {2, 4});
  TestTensor index = TestTensor::of<int64_t>(ScalarType::kLong, {1, 2}, {2, 3});
  TestTensor out(ScalarType::kFloat, {3, 4});
  EValue slots[] = {EValue(&*x), EValue(int64_t{0}), EValue(&*index), EValue(&*src), EValue(&*out)};
  EValue* args[] = {&slots[0], &slots[1], &slots[2], &slots[3], &slots[4]};
  KernelContext context;
  const Kernel* kernel = find_kernel(optimized_kernels(), "aten::scatter_add.out");
  EXPECT_FALSE(kernel->run(context, args).ok());
  for (const int64_t at : {int64_t{3}, int64_t{-5}, INT64_MIN, INT64_MAX}) {
    TestTensor places = TestTensor::of<int64_t>(ScalarType::kLong, {2}, {1, at});
    EValue none, which(&*places);
    EValue* items[] = {&none, &which};
    Tensor* unboxed[2];
    BoxedTensorList list = {items, unboxed};
    slots[1] = EValue(&list, 2, Tag::kOptionalTensorList);
    TestTensor few = numbers(ScalarType::kFloat, {3, 2});
    slots[2] = EValue(&*few);
    slots[3] = EValue(true);
    const Kernel* put = find_kernel(optimized_kernels(), "aten::index_put.out");
    EXPECT_EQ(put->run(context, args).ok(), at == 3) << at;
  }
}

TEST_F(Scatters, ChosenElements) {
  for (const ScalarType type : kTypes) {
    for (const double share : {0.0, 0.02, 0.6, 1.0}) {
      for (const std::vector<int32_t>& sizes :
           {std::vector<int32_t>{1}, {7}, {200}, {13, 9}, {3, 4, 41}, {2, 1, 3, 16}}) {
        TestTensor x = numbers(type, sizes, share), mask = numbers(ScalarType::kBool, sizes, share);
        const auto count = static_cast<int32_t>(x->numel());
        compare("aten::nonzero.out", {EValue(&*x)}, ScalarType::kLong,
                {count, static_cast<int32_t>(sizes.size())});
        compare("aten::masked_select.out", {EValue(&*x), EValue(&*mask)}, type, {count});
        TestTensor source = numbers(type, {count}, 1);
        compare("aten::masked_scatter.out", {EValue(&*x), EValue(&*mask), EValue(&*source)}, type,
                sizes);
        if (HasFailure()) FAIL() << static_cast<int>(type) << " " << share << " " << sizes.size();
      }
    }
  }
}

TEST_F(Scatters, ChosenByMasksThatBroadcast) {
  const std::vector<int32_t> sizes = {3, 4, 41};
  for (const std::vector<int32_t>& mask_sizes :
       {std::vector<int32_t>{41}, {4, 1}, {3, 1, 41}, {3, 4, 1}, {1, 4, 41}, {1}}) {
    TestTensor x = numbers(ScalarType::kFloat, sizes, 0.5);
    TestTensor mask = numbers(ScalarType::kBool, mask_sizes, 0.5);
    TestTensor source = numbers(ScalarType::kFloat, {3 * 4 * 41}, 1);
    compare("aten::masked_scatter.out", {EValue(&*x), EValue(&*mask), EValue(&*source)},
            ScalarType::kFloat, sizes);
  }
}

TEST_F(Scatters, TooFewElementsForAMaskAreAnError) {
  TestTensor x = numbers(ScalarType::kFloat, {20}), out(ScalarType::kFloat, {20});
  TestTensor mask(ScalarType::kBool, {20}), source = numbers(ScalarType::kFloat, {19});
  std::memset(mask->mutable_data(), 1, 20);
  EValue slots[] = {EValue(&*x), EValue(&*mask), EValue(&*source), EValue(&*out)};
  EValue* args[] = {&slots[0], &slots[1], &slots[2], &slots[3]};
  KernelContext context;
  const Kernel* scatter = find_kernel(optimized_kernels(), "aten::masked_scatter.out");
  EXPECT_FALSE(scatter->run(context, args).ok());
}

}  // namespace
}  // namespace taper::optimized
