// Tests products with every number of rows that is left beside whole tiles (library/f32_rows.h)
// against sums of whole numbers, which are exact.

#include <gtest/gtest.h>

#include "backends/xnnpack/runtime/payload/payload_for_test.h"

namespace taper::xnnpack {
namespace {

Floats whole_numbers(size_t count, size_t step) {
  Floats all(count);
  for (size_t i = 0; i < count; ++i) all[i] = static_cast<float>(i * step % 23) - 11;
  return all;
}

void check(uint32_t rows, uint32_t columns, uint32_t depth) {
  SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns) + " x " +
               std::to_string(depth));
  const Floats a = whole_numbers(size_t{rows} * depth, 7);
  const Floats w = whole_numbers(size_t{columns} * depth, 5), bias = whole_numbers(columns, 3);
  PayloadBuilder p;
  const uint32_t x = p.input({rows, depth}), y = p.output({rows, columns});
  p.connected(x, p.constant({columns, depth}, w), p.constant({columns}, bias), y);
  Loaded loaded(p.finish());
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
  HeldFloats in({static_cast<int32_t>(rows), static_cast<int32_t>(depth)}, a);
  HeldFloats out({static_cast<int32_t>(rows), static_cast<int32_t>(columns)},
                 Floats(size_t{rows} * columns));
  const Status status = loaded.run({&in.value, &out.value});
  ASSERT_TRUE(status.ok()) << status.message();
  const Floats got = out.result();
  for (size_t i = 0; i < rows; ++i) {
    for (size_t n = 0; n < columns; ++n) {
      float sum = bias[n];
      for (size_t k = 0; k < depth; ++k) sum += a[i * depth + k] * w[n * depth + k];
      ASSERT_EQ(got[i * columns + n], sum) << "row " << i << ", column " << n;
    }
  }
}

TEST(F32Rows, EveryNumberIsComputed) {
  for (uint32_t rows = 1; rows <= 20; ++rows) {
    for (uint32_t columns : {7, 16, 33}) check(rows, columns, 29);
  }
}

}  // namespace
}  // namespace taper::xnnpack
