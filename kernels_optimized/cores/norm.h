// Normalisation of rows of floats to mean 0 and mean square 1, on which layer, group and
// root-mean-square norm are built.

#pragma once

#include <cstdint>

namespace taper::optimized {

// Contiguous rows of `width` elements; `out` may be `in`. Weight and bias may be null. Each of
// their entries applies to `repeat` consecutive elements, and row r begins with entry (r *
// row_step) % entries.
struct NormRows {
  const float* in = nullptr;
  float* out = nullptr;
  // Outputs for the mean and the reciprocal deviation of each row; may be null.
  float* mean = nullptr;
  float* rstd = nullptr;
  int64_t count = 0;
  int64_t width = 0;
  double eps = 0;
  const float* weight = nullptr;
  const float* bias = nullptr;
  int64_t entries = 1;
  int64_t row_step = 0;
  int64_t repeat = 1;
  bool is_centred = true;  // If false, the mean is not subtracted: root-mean-square norm.
};

// Normalises rows [first, last). REQUIRES: has_vectors() (kernels_optimized/cores/gemm.h). Threads:
// different rows may be normalised concurrently.
void normalise(const NormRows& rows, int64_t first, int64_t last);

}  // namespace taper::optimized
