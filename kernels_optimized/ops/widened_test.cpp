// Products and convolutions of other dtypes than float32 against the portable kernels, at every
// level: sizes around those of tiles and blocks. Results differ in the order of sums only.

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "kernels_portable/engine/convert.h"
#include "kernels_portable/kernel_table.h"
#include "test/support/call_fast.h"
#include "test/support/int_list.h"
#include "test/support/test_tensor.h"

namespace taper::optimized {
namespace {

using test::Ints;
using test::TestTensor;

constexpr ScalarType kTypes[] = {ScalarType::kDouble, ScalarType::kBFloat16, ScalarType::kHalf,
                                 ScalarType::kInt,    ScalarType::kLong,     ScalarType::kByte};

class WidenedForms : public test::AtEachLevel {
 protected:
  TestTensor numbers(ScalarType type, std::vector<int32_t> sizes,
                     std::vector<uint8_t> dim_order = {}) {
    TestTensor result(type, std::move(sizes), std::move(dim_order));
    std::uniform_real_distribution<double> range(-1, 1);
    for (int64_t i = 0; i < result->numel(); ++i) {
      const double x = range(random_);
      const double value = is_floating(type) ? x : std::round(100 * x);
      portable::store_one(value, portable::element(result->mutable_data(), i, type), type);
    }
    return result;
  }

  // Runs the fast kernel and the portable one and compares. `result` is the last of the slots.
  static void compare(const char* name, std::vector<EValue> slots, TestTensor& result,
                      const std::string& what) {
    const ScalarType type = result->scalar_type();
    std::vector<unsigned char> temp(size_t{1} << 20);
    std::vector<double> got[2];
    for (const bool fast : {false, true}) {
      std::vector<EValue*> args;
      for (EValue& slot : slots) args.push_back(&slot);
      KernelContext context({temp.data(), fast ? temp.size() : 0});
      const KernelTable table = fast ? optimized_kernels() : portable::portable_kernels();
      ASSERT_TRUE(find_kernel(table, name)->run(context, args.data()).ok()) << name << what;
      for (int64_t i = 0; i < result->numel(); ++i) {
        got[fast].push_back(
            portable::load_one<double>(portable::element(result->const_data(), i, type), type));
      }
    }
    const double digits = type == ScalarType::kBFloat16 ? 0x1p-7
                          : type == ScalarType::kHalf   ? 0x1p-10
                          : type == ScalarType::kDouble ? 1e-13
                                                        : 0;
    for (size_t i = 0; i < got[0].size(); ++i) {
      const double bound =
          digits * (std::abs(got[0][i]) + (type == ScalarType::kDouble ? 1 : 1e-2));
      ASSERT_NEAR(got[1][i], got[0][i], bound) << name << what << " at " << i;
    }
  }

 private:
  std::mt19937 random_{7};
};

std::string text_of(std::initializer_list<int64_t> numbers) {
  std::string text;
  for (const int64_t n : numbers) text += " " + std::to_string(n);
  return text;
}

TEST_P(WidenedForms, Products) {
  for (const ScalarType type : kTypes) {
    for (const int32_t rows : {1, 2, 13, 300}) {
      for (const int32_t columns : {1, 33, 65}) {
        for (const int32_t depth : {0, 17, 300}) {
          const std::string what = text_of({static_cast<int64_t>(type), rows, columns, depth});
          TestTensor a = numbers(type, {rows, depth}), b = numbers(type, {depth, columns});
          TestTensor w = numbers(type, {columns, depth}), bias = numbers(type, {columns});
          TestTensor out(type, {rows, columns});
          compare("aten::mm.out", {EValue(&*a), EValue(&*b), EValue(&*out)}, out, what);
          compare("aten::linear.out", {EValue(&*a), EValue(&*w), EValue(&*bias), EValue(&*out)},
                  out, what);
          compare("aten::addmm.out",
                  {EValue(&*bias), EValue(&*a), EValue(&*b), EValue(int64_t{2}), EValue(int64_t{3}),
                   EValue(&*out)},
                  out, what);
          if (HasFailure()) return;
        }
      }
    }
  }
}

TEST_P(WidenedForms, Batches) {
  for (const ScalarType type : kTypes) {
    TestTensor a = numbers(type, {3, 20, 70}), b = numbers(type, {3, 70, 40}, {0, 2, 1});
    TestTensor added = numbers(type, {20, 1}), out(type, {3, 20, 40});
    compare("aten::bmm.out", {EValue(&*a), EValue(&*b), EValue(&*out)}, out, text_of({}));
    compare("aten::baddbmm.out",
            {EValue(&*added), EValue(&*a), EValue(&*b), EValue(int64_t{1}), EValue(int64_t{1}),
             EValue(&*out)},
            out, text_of({}));
  }
}

TEST_P(WidenedForms, ElementsAndLines) {
  for (const ScalarType type : {ScalarType::kHalf, ScalarType::kBFloat16}) {
    for (const int32_t size : {1, 17, 511, 512, 513, 3000}) {
      const std::string what = text_of({static_cast<int64_t>(type), size});
      TestTensor x = numbers(type, {3, size}), y = numbers(type, {3, size}), out(type, {3, size});
      const EValue a(&*x), b(&*y), one(int64_t{1}), last(int64_t{-1}), no(false), to(&*out);
      for (const char* name : {"aten::exp.out", "aten::sigmoid.out", "aten::silu.out",
                               "aten::tanh.out", "aten::sin.out", "aten::relu.out"}) {
        compare(name, {a, to}, out, what);
      }
      compare("aten::gelu.out", {a, EValue("none", 4), to}, out, what);
      compare("aten::add.out", {a, b, one, to}, out, what);
      compare("aten::sub.out", {a, b, one, to}, out, what);
      compare("aten::mul.out", {a, b, to}, out, what);
      compare("aten::_softmax.out", {a, last, no, to}, out, what);
      compare("aten::_log_softmax.out", {a, last, no, to}, out, what);
    }
  }
}

struct Shape {
  int32_t in, out, groups, size, window, stride;
  bool transposed;
};

constexpr Shape kShapes[] = {
    {3, 5, 1, 9, 3, 1, false},     {16, 70, 1, 14, 3, 1, false}, {40, 24, 1, 13, 1, 1, false},
    {12, 12, 3, 10, 3, 2, false},  {9, 9, 9, 17, 3, 1, false},   {6, 12, 6, 20, 5, 2, false},
    {64, 64, 64, 33, 3, 1, false}, {8, 6, 1, 11, 2, 2, true},    {8, 8, 8, 12, 4, 2, true},
    {8, 12, 4, 9, 3, 1, true},     {16, 40, 1, 14, 4, 2, true},
};

TEST_P(WidenedForms, Convolutions) {
  for (const ScalarType type : kTypes) {
    for (const Shape& s : kShapes) {
      for (const bool last : {false, true}) {
        const std::string what = text_of({static_cast<int64_t>(type), s.in, s.out, s.groups, s.size,
                                          s.window, s.stride, s.transposed, last});
        const std::vector<uint8_t> order =
            last ? std::vector<uint8_t>{0, 2, 3, 1} : std::vector<uint8_t>{0, 1, 2, 3};
        const int32_t size = s.transposed ? (s.size - 1) * s.stride - 2 + s.window
                                          : (s.size + 2 - s.window) / s.stride + 1;
        const std::vector<int32_t> window = {s.transposed ? s.in : s.out,
                                             (s.transposed ? s.out : s.in) / s.groups, s.window,
                                             s.window};
        TestTensor x = numbers(type, {2, s.in, s.size, s.size}, order);
        TestTensor w = numbers(type, window, order), bias = numbers(type, {s.out});
        TestTensor out(type, {2, s.out, size, size}, order);
        Ints strides({s.stride, s.stride}), ones({1, 1}), zeros({0, 0});
        compare(
            "aten::convolution.out",
            {EValue(&*x), EValue(&*w), EValue(&*bias), strides.value(), ones.value(), ones.value(),
             EValue(s.transposed), zeros.value(), EValue(int64_t{s.groups}), EValue(&*out)},
            out, what);
        if (HasFailure()) return;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, WidenedForms, testing::ValuesIn(kLevels));

}  // namespace
}  // namespace taper::optimized
