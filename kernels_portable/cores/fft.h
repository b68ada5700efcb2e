// Fourier transforms along one dimension, in double precision, without tables and, except in
// complex_in_place(), without memory besides the result.

#pragma once

#include "kernels_portable/engine/dims.h"
#include "taper/kernel.h"

namespace taper::portable {

// One transform: out[k] = factor * sum over j of in[j] * e^(sign * 2 pi i j k / n).
struct Fourier {
  int64_t dim;
  int64_t size;   // n, the number of real values.
  double factor;  // The normalization; see fourier_factor().
};

// The sizes of the dimensions before `dim`, to which a transform adds those of its result.
inline Sizes sizes_before(const Tensor& self, int64_t dim) {
  Sizes sizes;
  for (int64_t d = 0; d < dim; ++d) sizes.push(self.size(d));
  return sizes;
}

// The factor that `normalization` stands for: 0 none, 1 one over the square root of `count`, 2 one
// over `count`.
Status fourier_factor(int64_t normalization, double count, double* factor);

// Real to complex, sign -1: writes the first n / 2 + 1 results, or all n if out has n.
void real_to_complex(const Fourier& fourier, const Tensor& self, Tensor& out);
// Complex to complex in place, sign -1. Needs temp memory for one line.
Status complex_in_place(KernelContext& context, const Fourier& fourier, Tensor& out);
// Complex to complex, sign -1, or 1 if it is not `forward`. `out` is another tensor of the same
// sizes.
void complex_to_complex(const Fourier& fourier, bool forward, const Tensor& self, Tensor& out);
// Complex to real, sign 1: self holds n / 2 + 1 terms; the others are their conjugates.
void complex_to_real(const Fourier& fourier, const Tensor& self, Tensor& out);

}  // namespace taper::portable
