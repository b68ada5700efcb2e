// Eigenvalues and singular values at every level: the factors are orthogonal, in order, and their
// product is the matrix, also where values repeat, vanish, or differ by many digits.

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "kernels_portable/engine/convert.h"
#include "test/support/call_fast.h"
#include "test/support/test_tensor.h"

namespace taper::optimized {
namespace {

using test::TestTensor;

constexpr size_t kTemp = size_t{1} << 20;

// A matrix of doubles, by columns as they are asked for.
struct Table {
  int64_t rows, columns;
  std::vector<double> items;

  double& at(int64_t i, int64_t j) { return items[static_cast<size_t>(i * columns + j)]; }
};

Table table_of(TestTensor& tensor, int64_t batch) {
  const int64_t rows = tensor->size(1), columns = tensor->size(2);
  Table table = {rows, columns, {}};
  const ScalarType type = tensor->scalar_type();
  for (int64_t i = 0; i < rows * columns; ++i) {
    const void* from = portable::element(tensor->const_data(), batch * rows * columns + i, type);
    table.items.push_back(portable::load_one<double>(from, type));
  }
  return table;
}

// The largest difference between columns^T columns and the identity.
double distance_from_orthogonal(Table& q, bool by_rows) {
  const int64_t count = by_rows ? q.rows : q.columns, length = by_rows ? q.columns : q.rows;
  double worst = 0;
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t j = 0; j < count; ++j) {
      double sum = 0;
      for (int64_t r = 0; r < length; ++r) {
        sum += by_rows ? q.at(i, r) * q.at(j, r) : q.at(r, i) * q.at(r, j);
      }
      worst = std::max(worst, std::abs(sum - (i == j ? 1 : 0)));
    }
  }
  return worst;
}

class JacobiForms : public test::AtEachLevel {
 protected:
  enum class Kind { kAny, kRepeated, kDeficient, kGraded };

  // Two matrices, symmetric if they are square.
  TestTensor matrices(ScalarType type, int32_t rows, int32_t columns, Kind kind) {
    TestTensor result(type, {2, rows, columns});
    std::normal_distribution<double> normal;
    for (int64_t b = 0; b < 2; ++b) {
      std::vector<double> line(static_cast<size_t>(std::max(rows, columns)));
      for (double& x : line) x = normal(random_);
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < columns; ++j) {
          double x = normal(random_);
          const double pair = line[static_cast<size_t>(i)] * line[static_cast<size_t>(j)];
          if (kind == Kind::kRepeated) x = i == j ? 3 : 0;
          if (kind == Kind::kDeficient) x = pair;
          if (kind == Kind::kGraded) x *= std::pow(10.0, -static_cast<double>(i + j) / 20);
          if (rows == columns && j < i && kind != Kind::kDeficient) {
            x = portable::load_one<double>(
                portable::element(result->const_data(), (b * rows + j) * columns + i, type), type);
          }
          void* to = portable::element(result->mutable_data(), (b * rows + i) * columns + j, type);
          portable::store_one(x, to, type);
        }
      }
    }
    return result;
  }

  static constexpr Kind kKinds[] = {Kind::kAny, Kind::kRepeated, Kind::kDeficient, Kind::kGraded};

 private:
  std::mt19937 random_{17};
};

void check_product(Table& a, Table& left, const std::vector<double>& values, Table& right,
                   double bound) {
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j < a.columns; ++j) {
      double sum = 0;
      for (size_t k = 0; k < values.size(); ++k) {
        const auto c = static_cast<int64_t>(k);
        sum += left.at(i, c) * values[k] * right.at(c, j);
      }
      ASSERT_NEAR(sum, a.at(i, j), bound) << a.rows << " x " << a.columns;
    }
  }
}

std::vector<double> line_of(TestTensor& tensor, int64_t batch) {
  std::vector<double> line;
  for (int64_t i = 0; i < tensor->size(1); ++i) {
    const void* from =
        portable::element(tensor->const_data(), batch * tensor->size(1) + i, tensor->scalar_type());
    line.push_back(portable::load_one<double>(from, tensor->scalar_type()));
  }
  return line;
}

TEST_P(JacobiForms, Eigenvalues) {
  for (const ScalarType type : {ScalarType::kFloat, ScalarType::kDouble}) {
    const double digits = type == ScalarType::kFloat ? 1e-6 : 1e-13;
    for (const int32_t n : {1, 7, 8, 9, 17, 40}) {
      for (const Kind kind : kKinds) {
        TestTensor a = matrices(type, n, n, kind);
        TestTensor values(type, {2, n}), vectors(type, {2, n, n});
        test::call_fast(
            "aten::_linalg_eigh.eigenvalues",
            {EValue(&*a), EValue("L", 1), EValue(true), EValue(&*values), EValue(&*vectors)},
            kTemp);
        for (int64_t b = 0; b < 2 && !HasFailure(); ++b) {
          Table in = table_of(a, b), v = table_of(vectors, b), t = v;
          for (int64_t i = 0; i < n; ++i) {
            for (int64_t j = 0; j < n; ++j) t.at(i, j) = v.at(j, i);
          }
          const std::vector<double> line = line_of(values, b);
          EXPECT_TRUE(std::is_sorted(line.begin(), line.end()));
          EXPECT_LT(distance_from_orthogonal(v, false), 10 * digits);
          check_product(in, v, line, t, 20 * digits * (1 + std::abs(line.back())) + digits * n);
        }
      }
    }
  }
}

TEST_P(JacobiForms, SingularValues) {
  const std::pair<int32_t, int32_t> shapes[] = {{3, 3},   {8, 8},  {9, 9},
                                                {12, 31}, {40, 9}, {33, 33}};
  for (const ScalarType type : {ScalarType::kFloat, ScalarType::kDouble}) {
    const double digits = type == ScalarType::kFloat ? 1e-6 : 1e-14;
    for (const auto& [m, n] : shapes) {
      for (const Kind kind : kKinds) {
        const int32_t k = std::min(m, n);
        TestTensor a = matrices(type, m, n, kind), s(type, {2, k});
        TestTensor u(type, {2, m, k}), vh(type, {2, k, n});
        test::call_fast("aten::_linalg_svd.U",
                        {EValue(&*a), EValue(false), EValue(true), EValue(), EValue(&*u),
                         EValue(&*s), EValue(&*vh)},
                        kTemp);
        for (int64_t b = 0; b < 2 && !HasFailure(); ++b) {
          Table in = table_of(a, b), left = table_of(u, b), right = table_of(vh, b);
          const std::vector<double> line = line_of(s, b);
          EXPECT_TRUE(std::is_sorted(line.rbegin(), line.rend()));
          EXPECT_LT(distance_from_orthogonal(left, false), 20 * digits);
          EXPECT_LT(distance_from_orthogonal(right, true), 20 * digits);
          check_product(in, left, line, right, 20 * digits * (1 + line.front()));
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, JacobiForms, testing::ValuesIn(kLevels));

}  // namespace
}  // namespace taper::optimized
