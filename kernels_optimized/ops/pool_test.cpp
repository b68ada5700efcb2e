// Pooling against the portable kernels: values and indices of maxima must be equal, NaN, infinities
// and equal elements among them; means as near as the order of a sum allows. Samples of images at
// the points of a grid, within and outside of them.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "kernels_portable/kernel_table.h"
#include "test/support/call_fast.h"
#include "test/support/int_list.h"
#include "test/support/test_tensor.h"

namespace taper::optimized {
namespace {

using test::Ints;
using test::TestTensor;

struct Windows {
  std::vector<int64_t> kernel, stride, padding, dilation;
  bool ceil_mode;
};

class Pools : public test::AtEachLevel {
 protected:
  int64_t between(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random_);
  }

  // Few different numbers, so that many are equal; some are not finite.
  TestTensor image(const std::vector<int32_t>& sizes, bool channels_last, bool is_finite) {
    TestTensor result(ScalarType::kFloat, sizes, order(sizes.size(), channels_last));
    for (int64_t i = 0; i < result->numel(); ++i) {
      float x = static_cast<float>(between(-20, 20)) / 4;
      const int64_t special = is_finite ? 0 : between(0, 30);
      if (special == 1) x = std::nanf("");
      if (special >= 2 && special < 9) x = -std::numeric_limits<float>::infinity();
      result->mutable_data_ptr<float>()[i] = x;
    }
    return result;
  }

  static std::vector<uint8_t> order(size_t rank, bool channels_last) {
    if (!channels_last) return {};
    return rank == 4 ? std::vector<uint8_t>{0, 2, 3, 1} : std::vector<uint8_t>{1, 2, 0};
  }

  std::vector<int32_t> sizes() {
    std::vector<int32_t> all = {
        static_cast<int32_t>(between(1, 2)), static_cast<int32_t>(between(1, 70)),
        static_cast<int32_t>(between(1, 20)), static_cast<int32_t>(between(1, 70))};
    if (between(0, 3) == 0) all.erase(all.begin());
    return all;
  }

  Windows windows(bool dilated) {
    Windows all;
    for (int d = 0; d < 2; ++d) {
      const int64_t kernel = between(1, 5), dilation = dilated ? between(1, 3) : 1;
      all.kernel.push_back(kernel);
      all.stride.push_back(between(1, 4));
      all.padding.push_back(between(0, ((kernel - 1) * dilation + 1) / 2));
      all.dilation.push_back(dilation);
    }
    all.ceil_mode = between(0, 1) == 1;
    return all;
  }

  // Whether the windows fit. Then `out` are the sizes of the output.
  static bool fit(const Windows& all, const std::vector<int32_t>& in, std::vector<int32_t>* out) {
    *out = in;
    for (size_t d = 0; d < 2; ++d) {
      const size_t at = in.size() - 2 + d;
      const int64_t reach = (all.kernel[d] - 1) * all.dilation[d] + 1;
      const int64_t room = in[at] + 2 * all.padding[d] - reach;
      if (room < 0) return false;
      int64_t count = room / all.stride[d] + 1;
      const bool has_rest = room % all.stride[d] != 0;
      if (all.ceil_mode && has_rest && count * all.stride[d] < in[at] + all.padding[d]) ++count;
      (*out)[at] = static_cast<int32_t>(count);
    }
    return true;
  }

  // Runs both kernels with these arguments; the fast one gets the outputs `fast`.
  static void call_both(const char* name, const std::vector<EValue>& args,
                        const std::vector<EValue>& fast, const std::vector<EValue>& plain) {
    const KernelTable tables[] = {optimized_kernels(), portable::portable_kernels()};
    for (const size_t i : {0, 1}) {
      std::vector<EValue> slots = args;
      for (const EValue& out : i == 0 ? fast : plain) slots.push_back(out);
      std::vector<EValue*> pointers;
      for (EValue& slot : slots) pointers.push_back(&slot);
      std::vector<unsigned char> memory(size_t{1} << 18);
      KernelContext context({memory.data(), memory.size()});
      const Kernel* kernel = find_kernel(tables[i], name);
      ASSERT_NE(kernel, nullptr);
      ASSERT_TRUE(kernel->run(context, pointers.data()).ok()) << name;
    }
  }

  static void expect_near(const TestTensor& got, const TestTensor& want, float tolerance, int i) {
    const std::vector<float> a = got.values<float>(), b = want.values<float>();
    for (size_t j = 0; j < a.size(); ++j) {
      const bool is_same = a[j] == b[j] || (std::isnan(a[j]) && std::isnan(b[j]));
      ASSERT_TRUE(is_same || std::abs(a[j] - b[j]) <= tolerance)
          << "case " << i << ", element " << j << ": " << a[j] << ", not " << b[j];
    }
  }

  std::mt19937 random_{17};
};

TEST_P(Pools, Maxima) {
  for (int i = 0; i < 600; ++i) {
    const std::vector<int32_t> in = sizes();
    const Windows w = windows(true);
    std::vector<int32_t> to;
    if (!fit(w, in, &to)) continue;
    TestTensor x = image(in, i % 2 == 1, false);
    const auto layout = order(in.size(), i % 2 == 1);
    TestTensor fast(ScalarType::kFloat, to, layout), plain(ScalarType::kFloat, to, layout);
    TestTensor fast_at(ScalarType::kLong, to, layout), plain_at(ScalarType::kLong, to, layout);
    Ints kernel(w.kernel), stride(w.stride), padding(w.padding), dilation(w.dilation);
    call_both("aten::max_pool2d_with_indices.out",
              {EValue(&*x), kernel.value(), stride.value(), padding.value(), dilation.value(),
               EValue(w.ceil_mode)},
              {EValue(&*fast), EValue(&*fast_at)}, {EValue(&*plain), EValue(&*plain_at)});
    expect_near(fast, plain, 0, i);
    ASSERT_EQ(fast_at.values<int64_t>(), plain_at.values<int64_t>()) << i;
  }
}

TEST_P(Pools, Means) {
  for (int i = 0; i < 600; ++i) {
    const std::vector<int32_t> in = sizes();
    const Windows w = windows(false);
    std::vector<int32_t> to;
    if (!fit(w, in, &to)) continue;
    TestTensor x = image(in, i % 2 == 1, true);
    const auto layout = order(in.size(), i % 2 == 1);
    TestTensor fast(ScalarType::kFloat, to, layout), plain(ScalarType::kFloat, to, layout);
    Ints kernel(w.kernel), stride(w.stride), padding(w.padding);
    call_both("aten::avg_pool2d.out",
              {EValue(&*x), kernel.value(), stride.value(), padding.value(), EValue(w.ceil_mode),
               EValue(i % 3 == 0), i % 5 == 0 ? EValue(between(1, 9) - 10) : EValue()},
              {EValue(&*fast)}, {EValue(&*plain)});
    expect_near(fast, plain, 1e-5F, i);
  }
}

TEST_P(Pools, MeansOfAGivenNumberOfWindows) {
  for (int i = 0; i < 300; ++i) {
    std::vector<int32_t> in = sizes(), to = in;
    TestTensor x = image(in, i % 2 == 1, true);
    for (size_t d = 1; d <= 2; ++d) to[to.size() - d] = static_cast<int32_t>(between(1, 24));
    const auto layout = order(in.size(), i % 2 == 1);
    TestTensor fast(ScalarType::kFloat, to, layout), plain(ScalarType::kFloat, to, layout);
    Ints size({to[to.size() - 2], to[to.size() - 1]});
    call_both("aten::_adaptive_avg_pool2d.out", {EValue(&*x), size.value()}, {EValue(&*fast)},
              {EValue(&*plain)});
    expect_near(fast, plain, 1e-5F, i);
  }
}

TEST_P(Pools, SamplesAtThePointsOfAGrid) {
  const float special[] = {-1, 1, 0, std::nanf(""), -std::numeric_limits<float>::infinity(), 1e30F};
  std::uniform_real_distribution<float> range(-1.5F, 1.5F);
  for (int i = 0; i < 400; ++i) {
    const auto n = static_cast<int32_t>(between(1, 2)), c = static_cast<int32_t>(between(0, 5));
    const auto rows = static_cast<int32_t>(between(0, 20));
    const auto columns = static_cast<int32_t>(between(1, 40));
    TestTensor x =
        image({n, c, static_cast<int32_t>(between(1, 9)), static_cast<int32_t>(between(1, 9))},
              false, i % 2 == 0);
    TestTensor grid(ScalarType::kFloat, {n, rows, columns, 2});
    // Where a point ends that is reflected 1e30 times depends on each rounding before.
    const int64_t padding = between(0, 2), last = padding == 2 ? 4 : 5;
    for (int64_t k = 0; k < grid->numel(); ++k) {
      grid->mutable_data_ptr<float>()[k] =
          between(0, 9) == 0 ? special[between(0, last)] : range(random_);
    }
    const std::vector<int32_t> to = {n, c, rows, columns};
    TestTensor fast(ScalarType::kFloat, to), plain(ScalarType::kFloat, to);
    call_both(
        "aten::grid_sampler_2d.out",
        {EValue(&*x), EValue(&*grid), EValue(between(0, 2)), EValue(padding), EValue(i % 3 == 0)},
        {EValue(&*fast)}, {EValue(&*plain)});
    expect_near(fast, plain, 1e-5F, i);
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, Pools, testing::ValuesIn(kLevels));

}  // namespace
}  // namespace taper::optimized
