// The loops, from the outermost: blocks of columns; staged blocks of rows; blocks of depth, for
// each of which the right operand is asked for once; strips of rows; tiles two vectors wide, whose
// sums stay in registers.

#include "kernels_optimized/cores/multipliers.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/cores/multipliers.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels_optimized/cores/strips.h"

// Shared by all compiled forms: this file is compiled once per instruction set.
#ifndef TAPER_MULTIPLIERS_SCRATCH
#define TAPER_MULTIPLIERS_SCRATCH
namespace taper::optimized {
namespace {

constexpr int64_t kColumns = 64;
constexpr int64_t kDepth = 256;
constexpr int64_t kStageRows = 256;
constexpr int64_t kMostStripRows = 12;

// What one call needs, for numbers of eight bytes.
struct Scratch {
  alignas(64) unsigned char right[kDepth * kColumns * 8];
  alignas(64) unsigned char left[kMostStripRows * kDepth * 8];
  alignas(64) unsigned char stage[kStageRows * kColumns * 8];
};

}  // namespace
}  // namespace taper::optimized
#endif

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {
namespace {

using portable::Block;
using portable::Product;

template <typename T>
using TagOf = hn::ScalableTag<T>;
template <typename T>
using VecOf = hn::Vec<TagOf<T>>;
template <typename T>
constexpr int64_t kTileColumns = 2 * static_cast<int64_t>(HWY_LANES(T));

static_assert(kStripRows <= kMostStripRows);
static_assert(kColumns == portable::kBlockColumns<float> &&
              kColumns == portable::kBlockColumns<double> && kColumns % kTileColumns<float> == 0);

template <typename T>
HWY_INLINE VecOf<T> multiply_add(VecOf<T> a, VecOf<T> b, VecOf<T> c) {
  if constexpr (std::is_integral_v<T>) {
    return hn::Add(hn::Mul(a, b), c);
  } else {
    return hn::MulAdd(a, b, c);
  }
}

// Writes a vector of sums, or its first `count` elements, or adds them to what is there.
template <typename T>
HWY_INLINE void store_sums(VecOf<T> sums, T* to, int64_t count, bool add) {
  constexpr TagOf<T> tag;
  constexpr int64_t kLanesHere = kTileColumns<T> / 2;
  if (count >= kLanesHere) {
    hn::StoreU(add ? hn::Add(sums, hn::LoadU(tag, to)) : sums, tag, to);
    return;
  }
  HWY_ALIGN T buffer[kLanesHere] = {};
  for (int64_t j = 0; add && j < count; ++j) buffer[j] = to[j];
  hn::Store(hn::Add(sums, hn::Load(tag, buffer)), tag, buffer);
  for (int64_t j = 0; j < count; ++j) to[j] = buffer[j];
}

// One tile: `rows` of kRows rows and `columns` columns of it are stored.
template <typename T, int kRows>
void run_tile(const T* const* left, Block<const T> right, int64_t depth, int64_t rows,
              int64_t columns, bool add, Block<T> out) {
  constexpr TagOf<T> tag;
  constexpr int64_t kLanesHere = kTileColumns<T> / 2;
  VecOf<T> sums[kRows][2];
  const T* rows_of_left[kRows];
  TAPER_UNROLL
  for (int i = 0; i < kRows; ++i) {
    sums[i][0] = sums[i][1] = hn::Zero(tag);
    rows_of_left[i] = left[i];
  }
  const T* factors = right.data;
  for (int64_t k = 0; k < depth; ++k, factors += right.stride) {
    const auto first = hn::LoadU(tag, factors), second = hn::LoadU(tag, factors + kLanesHere);
    TAPER_UNROLL
    for (int i = 0; i < kRows; ++i) {
      const auto factor = hn::Set(tag, rows_of_left[i][k]);
      sums[i][0] = multiply_add<T>(factor, first, sums[i][0]);
      sums[i][1] = multiply_add<T>(factor, second, sums[i][1]);
    }
  }
  TAPER_UNROLL
  for (int i = 0; i < kRows; ++i) {
    if (i >= rows) continue;
    T* to = out.data + i * out.stride;
    store_sums<T>(sums[i][0], to, columns, add);
    if (columns > kLanesHere) {
      store_sums<T>(sums[i][1], to + kLanesHere, columns - kLanesHere, add);
    }
  }
}

// The strip that begins at row m: `rows` rows, of which a tile repeats the last one if it is
// higher.
template <typename T>
void run_strip(Product<T>& product, int64_t m, int64_t rows, int64_t k, int64_t depth,
               Block<const T> right, int64_t columns, T* buffer, Block<T> out) {
  const T* left[kStripRows];
  for (int64_t i = 0; i < rows; i += portable::kStripRows) {
    const int64_t count = std::min(portable::kStripRows, rows - i);
    const Block<const T> block = product.left(m + i, count, k, depth, buffer + i * depth);
    for (int64_t j = 0; j < count; ++j) left[i + j] = block.data + j * block.stride;
  }
  for (int64_t i = rows; i < kStripRows; ++i) left[i] = left[rows - 1];
  const auto run = rows == 1   ? run_tile<T, 1>
                   : rows <= 4 ? run_tile<T, 4>
                               : run_tile<T, static_cast<int>(kStripRows)>;
  for (int64_t j = 0; j < columns; j += kTileColumns<T>) {
    run(left, {right.data + j, right.stride}, depth, rows, std::min(kTileColumns<T>, columns - j),
        k > 0, {out.data + j, out.stride});
  }
}

// A block of the right operand, so wide that tiles may read all their columns.
template <typename T>
Block<const T> right_block(Product<T>& product, int64_t k, int64_t depth, int64_t n,
                           int64_t columns, T* buffer) {
  if (columns < kColumns) std::fill_n(buffer, depth * kColumns, T{});
  const Block<const T> block = product.right(k, depth, n, columns, buffer);
  if (block.data == buffer || columns % kTileColumns<T> == 0) return block;
  for (int64_t i = 0; i < depth; ++i) {
    std::copy_n(block.data + i * block.stride, columns, buffer + i * kColumns);
  }
  return {buffer, kColumns};
}

template <typename T>
void multiply(Product<T>& product, Scratch& scratch) {
  T* const right_buffer = reinterpret_cast<T*>(scratch.right);
  T* const left_buffer = reinterpret_cast<T*>(scratch.left);
  T* const stage = reinterpret_cast<T*>(scratch.stage);
  for (int64_t n = 0; n < product.columns(); n += kColumns) {
    const int64_t columns = std::min(kColumns, product.columns() - n);
    const bool staged = product.target(0, n).data == nullptr;
    const int64_t step = staged ? kStageRows : product.rows();
    for (int64_t m = 0; m < product.rows(); m += step) {
      const int64_t rows = std::min(step, product.rows() - m);
      const Block<T> out = staged ? Block<T>{stage, kColumns} : product.target(m, n);
      int64_t k = 0;
      do {  // At least once, so that a product of depth 0 is written too.
        const int64_t depth = std::min(kDepth, product.depth() - k);
        const Block<const T> right = right_block(product, k, depth, n, columns, right_buffer);
        for (int64_t i = 0; i < rows; i += kStripRows) {
          run_strip(product, m + i, std::min(kStripRows, rows - i), k, depth, right, columns,
                    left_buffer, {out.data + i * out.stride, out.stride});
        }
        k += depth;
      } while (k < product.depth());
      for (int64_t i = 0; i < rows; ++i) {
        product.finish(m + i, n, columns, out.data + i * out.stride);
      }
    }
  }
}

}  // namespace

void multiply_floats(Product<float>& product, void* scratch) {
  multiply(product, *static_cast<Scratch*>(scratch));
}
void multiply_doubles(Product<double>& product, void* scratch) {
#if HWY_HAVE_FLOAT64
  multiply(product, *static_cast<Scratch*>(scratch));
#else  // 32-bit ARM has no vectors of doubles.
  (void)scratch;
  portable::multiply(product);
#endif
}
void multiply_integers(Product<int64_t>& product, void* scratch) {
  multiply(product, *static_cast<Scratch*>(scratch));
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE
namespace taper::optimized {
namespace {

template <typename T>
using Form = void (*)(portable::Product<T>&, void*);

}  // namespace

bool find_multipliers(KernelContext& context, portable::Multipliers* result) {
  result->floats = TAPER_CHOOSE(Form<float>, multiply_floats);
  result->doubles = TAPER_CHOOSE(Form<double>, multiply_doubles);
  result->integers = TAPER_CHOOSE(Form<int64_t>, multiply_integers);
  if (result->floats == nullptr) return false;
  result->scratch = context.allocate_temp(sizeof(Scratch));
  return result->scratch != nullptr;
}

}  // namespace taper::optimized
#endif  // HWY_ONCE
