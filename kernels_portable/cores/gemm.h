// The matrix product that mm, bmm, addmm, linear and convolution share.
//
//     out[m, n] = finish(sum over k of left[m, k] * right[k, n])
//
// A Product gives access to its operands. They need not exist in memory: left() and right() may
// build the requested part in a small buffer, which is how convolution multiplies by patches of its
// input without storing them all, and how 16-bit floats are widened.
//
// The loops, from the outermost: blocks of columns, staged blocks of rows, blocks of depth (right()
// is called here, so its work is shared by all the rows), strips of four rows, tiles of four by
// eight that stay in registers. All buffers are on the stack, at most 16 KB.
//
// T is the compute type: float (for float, half, bfloat16), double, or int64_t for all integers,
// which wraps around as in PyTorch.

#pragma once

#include <cstdint>

namespace taper::portable {

inline constexpr int64_t kStripRows = 4;
inline constexpr int64_t kTileColumns = 8;
// The most depth and columns that multiply() asks left() and right() for at once.
template <typename T>
inline constexpr int64_t kBlockDepth = sizeof(T) == 4 ? 32 : 16;
template <typename T>
inline constexpr int64_t kBlockColumns = 64;
// How many rows are accumulated in the stage, the buffer that is used if a Product has no target.
template <typename T>
inline constexpr int64_t kStageRows = sizeof(T) == 4 ? 24 : 8;

// A block of a matrix of T whose rows are contiguous and `stride` elements apart.
template <typename T>
struct Block {
  T* data;
  int64_t stride;
};

template <typename T>
class Product {
 public:
  Product(int64_t rows, int64_t columns, int64_t depth)
      : rows_(rows), columns_(columns), depth_(depth) {}
  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  int64_t depth() const { return depth_; }

  // left[m .. m+rows) x [k .. k+depth), in place or written to `buffer` with a stride of `depth`.
  virtual Block<const T> left(int64_t m, int64_t rows, int64_t k, int64_t depth, T* buffer) = 0;
  // right[k .. k+depth) x [n .. n+columns), in place or written to `buffer` with a stride of
  // kBlockColumns. In place only if columns is a multiple of kTileColumns.
  virtual Block<const T> right(int64_t k, int64_t depth, int64_t n, int64_t columns, T* buffer) = 0;
  // Where out[m, n] and the elements to the right of it and below may be accumulated; null data
  // means in the stage.
  virtual Block<T> target(int64_t m, int64_t n) = 0;
  // Receives the complete sums of out[m, n .. n+columns), which are in the target if there is one.
  virtual void finish(int64_t m, int64_t n, int64_t columns, T* sums) = 0;

 protected:
  ~Product() = default;

 private:
  int64_t rows_;
  int64_t columns_;
  int64_t depth_;
};

// Computes the product. Defined for float, double and int64_t.
template <typename T>
void multiply(Product<T>& product);

// Other loops than those of multiply(), of a library that has faster ones. They may ask for parts
// of the operands of any depth.
struct Multipliers {
  void (*floats)(Product<float>& product, void* scratch);
  void (*doubles)(Product<double>& product, void* scratch);
  void (*integers)(Product<int64_t>& product, void* scratch);
  void* scratch;

  void run(Product<float>& product) const { floats(product, scratch); }
  void run(Product<double>& product) const { doubles(product, scratch); }
  void run(Product<int64_t>& product) const { integers(product, scratch); }
};

// Computes the product by these loops, or, if they are null, by those of multiply().
template <typename T>
void multiply(Product<T>& product, const Multipliers* by) {
  by != nullptr ? by->run(product) : multiply(product);
}

}  // namespace taper::portable
