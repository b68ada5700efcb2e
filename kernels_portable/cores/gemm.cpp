// The blocked loops of the shared matrix product; gemm.h says how they nest.

#include "kernels_portable/cores/gemm.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "kernels_portable/engine/arith.h"
#include "kernels_portable/engine/lanes.h"

namespace taper::portable {
namespace {

constexpr int64_t kWidth = kTileColumns;

// sums[i][j] = sum over k of left[i][k] * right[k][j]: the innermost loop, where the time is spent.
// For float the sums occupy 8 of 16 vector registers.
template <typename T, int64_t kRows>
inline void sum_tile(Block<const T> left, const int64_t (&row)[kRows], Block<const T> right,
                     int64_t depth, T (&sums)[kRows][kWidth]) {
  using Vector = typename Lanes<T>::Type;
  using Element = typename Lanes<T>::Element;
  constexpr int64_t kVectors = kWidth / Lanes<T>::kCount;
  Vector acc[kRows][kVectors] = {};
  const T* a[kRows];
  for (int64_t i = 0; i < kRows; ++i) a[i] = left.data + row[i] * left.stride;
  const T* b = right.data;
  for (int64_t k = 0; k < depth; ++k, b += right.stride) {
    Vector factors[kVectors];
    std::memcpy(factors, b, sizeof(factors));
#pragma GCC unroll 8
    for (int64_t i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
      for (int64_t j = 0; j < kVectors; ++j)
        acc[i][j] += static_cast<Element>(a[i][k]) * factors[j];
    }
  }
  std::memcpy(sums, acc, sizeof(acc));
}

// Adds the first `rows` rows and `columns` columns of a tile to the output, or stores them there.
template <typename T, int64_t kRows>
inline void merge_tile(const T (&sums)[kRows][kWidth], int64_t rows, int64_t columns, bool add,
                       Block<T> out) {
  if (rows == kRows && columns == kWidth) {
    for (int64_t i = 0; i < kRows; ++i) {
      T* to = out.data + i * out.stride;
      for (int64_t j = 0; j < kWidth; ++j) to[j] = add ? wrap_add(to[j], sums[i][j]) : sums[i][j];
    }
    return;
  }
  for (int64_t i = 0; i < rows; ++i) {
    T* to = out.data + i * out.stride;
    for (int64_t j = 0; j < columns; ++j) to[j] = add ? wrap_add(to[j], sums[i][j]) : sums[i][j];
  }
}

// Multiplies one strip of at most kRows rows by one block of the right operand.
template <typename T, int64_t kRows>
void multiply_strip(Block<const T> left, int64_t rows, Block<const T> right, int64_t depth,
                    int64_t columns, bool add, Block<T> out) {
  int64_t row[kRows];  // A short strip repeats its last row rather than reading past it.
  for (int64_t i = 0; i < kRows; ++i) row[i] = std::min(i, rows - 1);
  for (int64_t n = 0; n < columns; n += kWidth) {
    T sums[kRows][kWidth];
    sum_tile<T, kRows>(left, row, {right.data + n, right.stride}, depth, sums);
    merge_tile<T, kRows>(sums, rows, std::min(kWidth, columns - n), add,
                         {out.data + n, out.stride});
  }
}

// Sums rows [m, m + rows) x columns [n, n + columns) over the whole depth into `out`.
template <typename T>
void multiply_panel(Product<T>& product, int64_t m, int64_t rows, int64_t n, int64_t columns,
                    T* right_buffer, Block<T> out) {
  T left_buffer[static_cast<size_t>(kStripRows * kBlockDepth<T>)];
  for (int64_t k = 0; k < product.depth(); k += kBlockDepth<T>) {
    const int64_t depth = std::min(kBlockDepth<T>, product.depth() - k);
    const Block<const T> right = product.right(k, depth, n, columns, right_buffer);
    for (int64_t i = 0; i < rows; i += kStripRows) {
      const int64_t count = std::min(kStripRows, rows - i);
      const Block<const T> left = product.left(m + i, count, k, depth, left_buffer);
      const Block<T> to = {out.data + i * out.stride, out.stride};
      if (count == 1) {
        multiply_strip<T, 1>(left, 1, right, depth, columns, k > 0, to);
      } else {
        multiply_strip<T, kStripRows>(left, count, right, depth, columns, k > 0, to);
      }
    }
  }
}

template <typename T>
void clear(Block<T> block, int64_t rows, int64_t columns) {
  for (int64_t i = 0; i < rows; ++i) {
    std::fill_n(block.data + i * block.stride, columns, T{});
  }
}

}  // namespace

template <typename T>
void multiply(Product<T>& product) {
  T right_buffer[static_cast<size_t>(kBlockDepth<T> * kBlockColumns<T>)] = {};
  T stage[static_cast<size_t>(kStageRows<T> * kBlockColumns<T>)];
  for (int64_t n = 0; n < product.columns(); n += kBlockColumns<T>) {
    const int64_t columns = std::min(kBlockColumns<T>, product.columns() - n);
    const bool staged = product.target(0, n).data == nullptr;
    const int64_t step = staged ? kStageRows<T> : product.rows();
    for (int64_t m = 0; m < product.rows(); m += step) {
      const int64_t rows = std::min(step, product.rows() - m);
      const Block<T> out = staged ? Block<T>{stage, kBlockColumns<T>} : product.target(m, n);
      if (product.depth() == 0) clear(out, rows, columns);
      multiply_panel(product, m, rows, n, columns, right_buffer, out);
      for (int64_t i = 0; i < rows; ++i) {
        product.finish(m + i, n, columns, out.data + i * out.stride);
      }
    }
  }
}

template void multiply<float>(Product<float>&);
template void multiply<double>(Product<double>&);
template void multiply<int64_t>(Product<int64_t>&);

}  // namespace taper::portable
