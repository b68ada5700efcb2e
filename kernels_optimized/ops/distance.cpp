// _cdist_forward of contiguous floats with the Euclidean norm: x2 is transposed once; then the
// distances of each row of x1 to a few vectors of rows of x2 are computed at a time.

#include "kernels_optimized/engine/overlay.h"
#include "kernels_optimized/engine/parallel.h"
#include "kernels_portable/engine/dims.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/ops/distance.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels_optimized/engine/vectors.h"

// Shared by all compiled forms: this file is compiled once per instruction set.
#ifndef TAPER_DISTANCES
#define TAPER_DISTANCES
namespace taper::optimized {
namespace {

// Rows [m, k] and columns [k, n], and the output for the distances between them.
struct Pairs {
  const float* rows;
  const float* columns;
  float* out;
  int64_t k, n;
};

}  // namespace
}  // namespace taper::optimized
#endif

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {
namespace {

// Computes the distances of a row to kVectors vectors of columns, `count` columns in all.
template <int kVectors>
HWY_INLINE void measure(const float* row, const float* columns, int64_t k, int64_t n, int64_t count,
                        float* out) {
  Vec sums[kVectors];
  for (Vec& sum : sums) sum = hn::Zero(kTag);
  for (int64_t i = 0; i < k; ++i, columns += n) {
    const Vec x = hn::Set(kTag, row[i]);
    TAPER_UNROLL
    for (int j = 0; j < kVectors; ++j) {
      const Vec y =
          kVectors == 1 ? load_count(columns, count) : hn::LoadU(kTag, columns + j * kLanes);
      const Vec difference = hn::Sub(x, y);
      sums[j] = hn::MulAdd(difference, difference, sums[j]);
    }
  }
  for (int j = 0; j < kVectors; ++j) {
    store_count(hn::Sqrt(sums[j]), out + j * kLanes, count - j * kLanes);
  }
}

}  // namespace

void distance_form(const Pairs& pairs, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    const float* row = pairs.rows + i * pairs.k;
    float* out = pairs.out + i * pairs.n;
    int64_t j = 0;
    for (; j + 4 * kLanes <= pairs.n; j += 4 * kLanes) {
      measure<4>(row, pairs.columns + j, pairs.k, pairs.n, 4 * kLanes, out + j);
    }
    for (; j < pairs.n; j += kLanes) {
      measure<1>(row, pairs.columns + j, pairs.k, pairs.n, pairs.n - j, out + j);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE
namespace taper::optimized {
namespace {

using Form = void (*)(const Pairs&, int64_t, int64_t);

void transpose(const float* x, int64_t rows, int64_t columns, float* out) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) out[c * rows + r] = x[r * columns + c];
  }
}

// True if all tensors are contiguous floats, not empty, and nothing is broadcast.
bool are_pairs(const Tensor& x1, const Tensor& x2, const Tensor& out) {
  if (!are_float(x1, x2, out) || x1.dim() < 2 || x1.dim() != x2.dim() || !x1.is_contiguous() ||
      !x2.is_contiguous() || !out.is_contiguous() || x1.numel() == 0 || x2.numel() == 0) {
    return false;
  }
  for (int64_t d = 0; d < x1.dim() - 2; ++d) {
    if (x1.size(d) != x2.size(d)) return false;
  }
  return x1.size(x1.dim() - 1) == x2.size(x1.dim() - 1);
}

bool fast_cdist(KernelContext& context, const Tensor& x1, const Tensor& x2, double p,
                std::optional<int64_t>, Tensor& out) {
  const Form form = TAPER_CHOOSE(Form, distance_form);
  if (form == nullptr || p != 2 || !are_pairs(x1, x2, out)) return false;
  const int64_t rank = x1.dim(), m = x1.size(rank - 2), n = x2.size(rank - 2);
  const int64_t k = x1.size(rank - 1);
  portable::Sizes sizes;
  for (int64_t d = 0; d < rank - 1; ++d) sizes.push(x1.size(d));
  sizes.push(n);
  const Span<float> columns = scratch_floats(context, n * k);
  if (columns.size() == 0 || !out.resize(sizes).ok()) return false;
  for (int64_t b = 0; b < x1.numel() / (m * k); ++b) {
    transpose(x2.const_data_ptr<float>() + b * n * k, n, k, columns.data());
    const Pairs pairs = {x1.const_data_ptr<float>() + b * m * k, columns.data(),
                         out.mutable_data_ptr<float>() + b * m * n, k, n};
    for_parts(context.pool(), m, n * k, 1,
              [&](int64_t begin, int64_t end) { form(pairs, begin, end); });
  }
  return true;
}

}  // namespace

extern const Kernel kCdistForwardOut;
const Kernel kCdistForwardOut =
    overlay<fast_cdist, portable::kCdistForwardOut>("aten::_cdist_forward.out");

}  // namespace taper::optimized
#endif  // HWY_ONCE
