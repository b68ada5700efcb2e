// permute_copy.out, transpose_copy.int_out and t_copy.out of contiguous tensors with elements of
// four bytes: dimensions that stay together are one, and what is left is planes of matrices, which
// are transposed in blocks of vectors.

#include <algorithm>

#include "kernels_optimized/engine/overlay.h"
#include "kernels_optimized/engine/parallel.h"
#include "kernels_portable/engine/dims.h"
#include "kernels_portable/engine/strided.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/ops/permute.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels_optimized/engine/transpose_block.h"

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {

// to[r * to_step + c] = from[c * from_step + r]
void transpose_form(const float* from, int64_t from_step, int64_t rows, int64_t columns, float* to,
                    int64_t to_step) {
  constexpr int64_t kTile = 256, kLine = 16;
  const auto by_element = [&](int64_t row, int64_t last_row, int64_t c, int64_t last) {
    for (; row < last_row; ++row) {
      for (int64_t i = c; i < last; ++i) to[row * to_step + i] = from[i * from_step + row];
    }
  };
  for (int64_t tile = 0; tile < columns; tile += kTile) {
    const int64_t end = std::min(columns, tile + kTile);
    // Whole cache lines of the columns are read at once: columns that lie powers of two apart would
    // displace each other before their next rows are read.
    for (int64_t row = 0, next; row < rows; row = next) {
      next = row + kLine <= rows ? row + kLine : row + kBlock <= rows ? row + kBlock : rows;
      int64_t c = tile;
      for (; next - row >= kBlock && c + kBlock <= end; c += kBlock) {
        for (int64_t r = row; r < next; r += kBlock) {
          transpose_block([&](int64_t i) { return from + (c + i) * from_step + r; },
                          [&](int64_t i) { return to + (r + i) * to_step + c; });
        }
      }
      by_element(row, next, c, end);
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

using Form = void (*)(const float*, int64_t, int64_t, int64_t, float*, int64_t);

enum { kTo, kFrom };

// The loops over a result, the last one over its memory.
portable::LoopNest loops_of(const Tensor& self, const int64_t* order) {
  portable::LoopNest loops;
  loops.operands = 2;
  int64_t step = self.numel();
  for (int64_t d = 0; d < self.dim(); ++d) {
    const int64_t size = self.size(order[d]);
    step /= size;
    const int64_t strides[] = {step, self.strides()[static_cast<size_t>(order[d])]};
    loops.add_loop(size, strides);
  }
  loops.simplify();
  return loops;
}

// Which of them is over the memory of the input; -1 if the last one is that, too.
int row_loop_of(const portable::LoopNest& loops) {
  for (int d = 0; d + 1 < loops.rank; ++d) {
    if (loops.strides[kFrom][d] == 1) return d;
  }
  return -1;
}

// REQUIRES: `order` names every dimension once.
bool permute(const KernelContext& context, const Tensor& self, const int64_t* order, Tensor& out) {
  const Form form = TAPER_CHOOSE(Form, transpose_form);
  if (form == nullptr || self.scalar_type() != out.scalar_type() ||
      element_size(self.scalar_type()) != sizeof(float) || !self.is_contiguous() ||
      self.numel() == 0 || out.dim() != self.dim()) {
    return false;
  }
  int32_t sizes[kMaxRank];
  for (int64_t d = 0; d < self.dim(); ++d) sizes[d] = static_cast<int32_t>(self.size(order[d]));
  const portable::LoopNest loops = loops_of(self, order);
  const int64_t(&from_steps)[kMaxRank] = loops.strides[kFrom];
  const int64_t(&to_steps)[kMaxRank] = loops.strides[kTo];
  const int r = row_loop_of(loops), c = loops.rank - 1;
  if (r < 0 || !out.resize({sizes, static_cast<size_t>(self.dim())}).ok() || !out.is_contiguous()) {
    return false;
  }
  const auto* from = static_cast<const float*>(self.const_data());
  auto* to = static_cast<float*>(out.mutable_data());
  const int64_t rows = loops.sizes[r], columns = loops.sizes[c];
  const int64_t bands = (rows + kLineFloats - 1) / kLineFloats;
  // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): there are elements, so no size is 0.
  const int64_t planes = self.numel() / (rows * columns);
  for_parts(context.pool(), planes * bands, 2 * kLineFloats * columns, 1,
            [&](int64_t begin, int64_t end) {
              for (int64_t at = begin, next; at < end; at = next) {
                const int64_t band = at % bands;
                next = std::min(end, at - band + bands);
                const int64_t first = band * kLineFloats;
                const int64_t last = std::min(rows, (next - at + band) * kLineFloats);
                int64_t source = first, target = first * to_steps[r], plane = at / bands;
                for (int d = c; d-- > 0;) {
                  if (d == r) continue;
                  source += plane % loops.sizes[d] * from_steps[d];
                  target += plane % loops.sizes[d] * to_steps[d];
                  plane /= loops.sizes[d];
                }
                form(from + source, from_steps[c], last - first, columns, to + target, to_steps[r]);
              }
            });
  return true;
}

bool fast_permute(KernelContext& context, const Tensor& self, IntList dims, Tensor& out) {
  if (static_cast<int64_t>(dims.size()) != self.dim()) return false;
  int64_t order[kMaxRank] = {};
  uint32_t seen = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!portable::wrap_dim(dims[i], self.dim(), &order[i]).ok()) return false;
    seen |= uint32_t{1} << order[i];
  }
  return seen == (uint32_t{1} << dims.size()) - 1 && permute(context, self, order, out);
}

bool fast_transpose(KernelContext& context, const Tensor& self, int64_t a, int64_t b, Tensor& out) {
  int64_t order[kMaxRank] = {};
  if (self.dim() < 2 || !portable::wrap_dim(a, self.dim(), &a).ok() ||
      !portable::wrap_dim(b, self.dim(), &b).ok()) {
    return false;
  }
  for (int64_t d = 0; d < self.dim(); ++d) order[d] = d == a ? b : d == b ? a : d;
  return permute(context, self, order, out);
}

bool fast_t(KernelContext& context, const Tensor& self, Tensor& out) {
  return self.dim() == 2 && fast_transpose(context, self, 0, 1, out);
}

}  // namespace

extern const Kernel kPermuteCopyOut, kTransposeCopyIntOut, kTCopyOut;
const Kernel kPermuteCopyOut =
    overlay<fast_permute, portable::kPermuteCopyOut, Takes::kComplexToo>("aten::permute_copy.out");
const Kernel kTransposeCopyIntOut =
    overlay<fast_transpose, portable::kTransposeCopyIntOut, Takes::kComplexToo>(
        "aten::transpose_copy.int_out");
const Kernel kTCopyOut =
    overlay<fast_t, portable::kTCopyOut, Takes::kComplexToo>("aten::t_copy.out");

}  // namespace taper::optimized
#endif  // HWY_ONCE
