// The product of two matrices whose factors are bfloat16, the upper half of float32, and whose sums
// are float32:
//
//     out[m, n] = clamp(bias[n] + sum over k of rows[m, k] * weights[k, n])
//
// Processors have two kinds of instructions for it: the matrix unit of x86-64 (AMX) multiplies 16
// rows by 16 columns; AVX-512 BF16, and BFDOT of 64-bit ARM, add two products to each sum of a
// vector. On other processors float32 computes the same, which is slower than without bfloat16, and
// tells how far results are off.
//
// Weights lie in panels of 32 columns. A panel has, for every two terms, both factors of its first
// column, both of its second, and so on, as these instructions read them. Rows lie in panels of 32,
// too: of each, 32 terms of its first row, 32 of its second, and so on, then the next 32 terms. So
// what is read together is together, and in different sets of the cache whatever the sizes are.

#pragma once

#include <cstdint>

namespace taper::optimized {

// In the order of their speed.
enum class BfloatForm : uint8_t { kFloats, kPairs, kTiles };

// The best form for this processor and process; kFloats if it has no instruction for bfloat16.
// Asks the system for the matrix unit when it is first called. May be called on any thread.
BfloatForm best_bfloat_form();

inline constexpr int64_t kBfloatColumns = 32;  // Of a panel of weights.
inline constexpr int64_t kBfloatRows = 32;     // Of a panel of rows.
inline constexpr int64_t kBfloatTerms = 32;    // Rows and columns have a multiple of so many.

// The numbers from 32 terms of a row to its next ones.
inline constexpr int64_t kBfloatPiece = kBfloatRows * kBfloatTerms;

inline int64_t whole_terms(int64_t terms) {
  return (terms + kBfloatTerms - 1) / kBfloatTerms * kBfloatTerms;
}
inline int64_t whole_rows(int64_t rows) {
  return (rows + kBfloatRows - 1) / kBfloatRows * kBfloatRows;
}
// Where row `row` begins in its panels; its next 32 terms are 32 x 32 numbers further.
inline int64_t bfloat_row_place(int64_t row, int64_t terms) {
  return row / kBfloatRows * kBfloatRows * whole_terms(terms) + row % kBfloatRows * kBfloatTerms;
}
inline int64_t bfloat_panels(int64_t columns) {
  return (columns + kBfloatColumns - 1) / kBfloatColumns;
}
// The number of bfloat16 in all panels.
inline int64_t bfloat_weights(int64_t terms, int64_t columns) {
  return bfloat_panels(columns) * kBfloatColumns * whole_terms(terms);
}

// Rounds to the nearest bfloat16, of two to the even one. NaN stays NaN.
void round_to_bfloat(const float* from, int64_t count, uint16_t* to);

// Write a row of a panel, which begins at `to`, with zeros for the terms that are missing: of
// floats, which are rounded, or of bfloat16.
void place_bfloat_row(const float* row, int64_t terms, uint16_t* to);
void place_bfloat_row(const uint16_t* row, int64_t terms, uint16_t* to);

// A matrix of weights, of which factor (k, n) is data[k * term_step + n * column_step].
struct BfloatSource {
  const float* data = nullptr;
  int64_t term_step = 0, column_step = 0;
  int64_t terms = 0, columns = 0;
};

// Writes bfloat_weights() numbers to `to`, with zeros for the terms and columns that are missing.
void pack_bfloat(const BfloatSource& weights, uint16_t* to);

struct BfloatProduct {
  const uint16_t* rows = nullptr;  // Whole panels, aligned to 64 bytes.
  int64_t row_count = 0;
  int64_t terms = 0;  // A multiple of kBfloatTerms; those that the matrix lacks are zeros.
  const uint16_t* weights = nullptr;  // All panels, aligned to 64 bytes.
  int64_t columns = 0;
  const float* bias = nullptr;  // Of each column; may be null.
  float* out = nullptr;
  int64_t out_step = 0;  // From one row to the next.
  float min = 0, max = 0;
};

// Computes the columns of panels [begin, end). REQUIRES: has_vectors(), and a form no better than
// best_bfloat_form().
void multiply_bfloat(const BfloatProduct& product, BfloatForm form, int64_t begin, int64_t end);

}  // namespace taper::optimized
