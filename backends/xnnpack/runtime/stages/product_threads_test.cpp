// Tests that threads, which divide the rows of a product or its columns, compute what its definition
// says: fewer tiles than threads, parts of different sizes, and tiles that are not full.

#include "backends/xnnpack/runtime/stages/stages_for_test.h"

namespace taper::xnnpack {
namespace {

constexpr uint32_t kDepth = 24;

// The rows of x by `columns` columns of weights, computed on some threads.
Floats product(const Floats& x, const Floats& weights, uint32_t columns, uint32_t threads) {
  const auto rows = static_cast<uint32_t>(x.size() / kDepth);
  PayloadBuilder p;
  const uint32_t in = p.input({rows, kDepth}), out = p.output({rows, columns});
  const uint32_t bias = p.constant({columns}, some_numbers(columns, 3, 1));
  p.connected(in, p.constant({columns, kDepth}, weights), bias, out);
  Loaded loaded(p.finish(), on_threads(threads));
  EXPECT_TRUE(loaded.status.ok()) << loaded.status.message();
  HeldFloats given({static_cast<int32_t>(rows), kDepth}, x);
  HeldFloats got({static_cast<int32_t>(rows), static_cast<int32_t>(columns)},
                 Floats(size_t{rows} * columns));
  EXPECT_TRUE(loaded.run({&given.value, &got.value}).ok());
  return got.result();
}

TEST(ProductOnThreads, IsThatOfItsDefinition) {
  for (const uint32_t rows : {1u, 13u, 15u, 29u, 57u, 200u}) {
    for (const uint32_t columns : {1u, 33u, 300u, 1500u}) {
      const Floats x = some_numbers(size_t{rows} * kDepth, 13, 1);
      const Floats weights = some_numbers(size_t{columns} * kDepth, 31, 1);
      const Floats bias = some_numbers(columns, 3, 1);
      for (const uint32_t threads : {1u, 2u, 3u, 5u}) {
        SCOPED_TRACE(testing::Message()
                     << rows << " rows, " << columns << " columns, " << threads << " threads");
        const Floats got = product(x, weights, columns, threads);
        ASSERT_EQ(got.size(), size_t{rows} * columns);
        for (size_t i = 0; i < got.size(); ++i) {
          const size_t row = i / columns, column = i % columns;
          double sum = double{bias[column]};
          for (size_t k = 0; k < kDepth; ++k) {
            sum += double{x[row * kDepth + k]} * double{weights[column * kDepth + k]};
          }
          ASSERT_NEAR(double{got[i]}, sum, 1e-5) << "row " << row << ", column " << column;
        }
      }
    }
  }
}

}  // namespace
}  // namespace taper::xnnpack
