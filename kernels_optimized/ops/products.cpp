// mm, bmm, addmm, baddbmm and linear. Those of floats are computed by the fast matrix product
// (gemm.h), operands of other dtypes are widened piece by piece (multipliers.h). Operands may have
// any layout; the rows of out must be contiguous if they are floats.

#include <atomic>
#include <initializer_list>

#include "kernels_optimized/cores/gemm.h"
#include "kernels_optimized/cores/multipliers.h"
#include "kernels_optimized/engine/overlay.h"
#include "kernels_optimized/engine/parallel.h"
#include "kernels_portable/cores/matmul.h"

namespace taper::optimized {
namespace {

using portable::MatrixView;

FloatMatrix floats_of(const MatrixView& view) {
  return {static_cast<const float*>(view.data) + view.first, view.row_stride, view.column_stride};
}

// Computes a problem as the portable kernels describe it.
bool multiply(Span<float> scratch, const ThreadPool& pool, const portable::Matmul& problem) {
  Gemm g;
  g.rows = problem.rows;
  g.columns = problem.columns;
  g.depth = problem.depth;
  g.left = floats_of(problem.left);
  g.right = floats_of(problem.right);
  g.alpha = static_cast<float>(problem.alpha.to_double());
  g.beta = static_cast<float>(problem.beta.to_double());
  if (problem.added != nullptr) g.added = floats_of(*problem.added);
  const MatrixView& out = problem.out;
  if (out.column_stride != 1 && g.columns != 1) return false;
  g.out = static_cast<float*>(out.data) + out.first;
  g.out_stride = out.row_stride;
  return gemm(g, scratch, pool);
}

bool multiply(KernelContext& context, const portable::Matmul& problem) {
  if (problem.out.type != ScalarType::kFloat) {
    portable::Multipliers by;
    return find_multipliers(context, &by) && (portable::matmul(problem, &by), true);
  }
  return multiply(shared_scratch(context, kGemmScratchFloats), context.pool(), problem);
}

// Computes `count` products of this dtype: with_problem(i, run) calls run() with each. Several
// products of floats are computed at a time if there are enough of them, otherwise each on all
// threads. Returns false if one of them could not be computed.
template <typename WithProblem>
bool multiply_batch(KernelContext& context, ScalarType type, int64_t count, int64_t multiplications,
                    WithProblem with_problem) {
  const auto run_all = [&](int64_t begin, int64_t end, const auto& run) {
    bool done = true;
    for (int64_t b = begin; b < end && done; ++b) done = with_problem(b, run);
    return done;
  };
  if (type != ScalarType::kFloat) {
    portable::Multipliers by;
    return find_multipliers(context, &by) &&
           run_all(0, count, [&](const portable::Matmul& problem) {
             portable::matmul(problem, &by);
             return true;
           });
  }
  if (count < context.pool().threads) {
    const Span<float> scratch = shared_scratch(context, kGemmScratchFloats);
    return run_all(0, count, [&](const portable::Matmul& problem) {
      return multiply(scratch, context.pool(), problem);
    });
  }
  std::atomic<bool> done{true};
  for_parts_with_scratch(context, count, multiplications / kMultiplicationsPerUnit,
                         kGemmScratchFloats, [&](int64_t begin, int64_t end, Span<float> scratch) {
                           const auto run = [&](const portable::Matmul& problem) {
                             return multiply(scratch, ThreadPool(), problem);
                           };
                           if (!run_all(begin, end, run)) done = false;
                         });
  return done;
}

bool resize(Tensor& out, std::initializer_list<int64_t> sizes) {
  int32_t narrow[3];
  size_t rank = 0;
  for (const int64_t size : sizes) narrow[rank++] = static_cast<int32_t>(size);
  return static_cast<size_t>(out.dim()) == rank && out.resize({narrow, rank}).ok();
}

bool are_matrices(const Tensor& left, const Tensor& right) {
  return left.dim() == 2 && right.dim() == 2 && left.size(1) == right.size(0);
}

bool are_batches(const Tensor& left, const Tensor& right) {
  return left.dim() == 3 && right.dim() == 3 && left.size(0) == right.size(0) &&
         left.size(2) == right.size(1);
}

bool fast_mm(KernelContext& context, const Tensor& self, const Tensor& mat2, Tensor& out) {
  if (!share_dtype(self, mat2, out) || !are_matrices(self, mat2)) return false;
  if (!resize(out, {self.size(0), mat2.size(1)})) return false;
  return multiply(context, {self.size(0), mat2.size(1), self.size(1), portable::matrix_of(self),
                            portable::matrix_of(mat2), portable::matrix_of(out)});
}

bool fast_addmm(KernelContext& context, const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                Scalar beta, Scalar alpha, Tensor& out) {
  if (!share_dtype(self, mat1, mat2, out) || !are_matrices(mat1, mat2) ||
      !portable::check_product_scalars(out.scalar_type(), alpha, beta).ok()) {
    return false;
  }
  const int64_t sizes[] = {mat1.size(0), mat2.size(1)};
  if (!portable::broadcasts_to(self, {sizes, 2}) || !resize(out, {sizes[0], sizes[1]})) {
    return false;
  }
  const MatrixView added = portable::broadcast_matrix(self);
  return multiply(context,
                  {sizes[0], sizes[1], mat1.size(1), portable::matrix_of(mat1),
                   portable::matrix_of(mat2), portable::matrix_of(out), &added, alpha, beta});
}

bool fast_bmm(KernelContext& context, const Tensor& self, const Tensor& mat2, Tensor& out) {
  if (!share_dtype(self, mat2, out) || !are_batches(self, mat2)) return false;
  const int64_t batches = self.size(0), rows = self.size(1), columns = mat2.size(2);
  if (!resize(out, {batches, rows, columns})) return false;
  const int64_t depth = self.size(2);
  const auto with_problem = [&](int64_t b, const auto& run) {
    return run({rows, columns, depth, portable::matrix_of(self, b), portable::matrix_of(mat2, b),
                portable::matrix_of(out, b)});
  };
  return multiply_batch(context, out.scalar_type(), batches, rows * columns * depth, with_problem);
}

bool fast_baddbmm(KernelContext& context, const Tensor& self, const Tensor& batch1,
                  const Tensor& batch2, Scalar beta, Scalar alpha, Tensor& out) {
  if (!share_dtype(self, batch1, batch2, out) || !are_batches(batch1, batch2) ||
      !portable::check_product_scalars(out.scalar_type(), alpha, beta).ok()) {
    return false;
  }
  const int64_t sizes[] = {batch1.size(0), batch1.size(1), batch2.size(2)};
  if (!portable::broadcasts_to(self, {sizes, 3}) || !resize(out, {sizes[0], sizes[1], sizes[2]})) {
    return false;
  }
  const int64_t depth = batch1.size(2);
  const auto with_problem = [&](int64_t b, const auto& run) {
    const MatrixView added = portable::broadcast_matrix(self, b);
    return run({sizes[1], sizes[2], depth, portable::matrix_of(batch1, b),
                portable::matrix_of(batch2, b), portable::matrix_of(out, b), &added, alpha, beta});
  };
  return multiply_batch(context, out.scalar_type(), sizes[0], sizes[1] * sizes[2] * depth,
                        with_problem);
}

// The input may have any rank; weight is [features, k].
bool fast_linear(KernelContext& context, const Tensor& input, const Tensor& weight,
                 const Tensor* bias, Tensor& out) {
  const int64_t rank = input.dim();
  if (!share_dtype(input, weight, out) || weight.dim() != 2 || rank < 1 || out.dim() != rank ||
      !input.is_contiguous() || !out.is_contiguous() || input.size(rank - 1) != weight.size(1)) {
    return false;
  }
  const int64_t depth = weight.size(1), features = weight.size(0);
  if (bias != nullptr && (!share_dtype(*bias, out) || bias->dim() > 1 ||
                          (bias->numel() != features && bias->numel() != 1))) {
    return false;
  }
  int32_t sizes[kMaxRank];
  int64_t rows = 1;
  for (int64_t d = 0; d < rank - 1; ++d) rows *= sizes[d] = input.sizes()[static_cast<size_t>(d)];
  sizes[rank - 1] = static_cast<int32_t>(features);
  if (!out.resize({sizes, static_cast<size_t>(rank)}).ok()) return false;
  const ScalarType type = out.scalar_type();
  const MatrixView added = bias != nullptr ? portable::broadcast_matrix(*bias) : MatrixView{};
  return multiply(context, {rows,
                            features,
                            depth,
                            {input.mutable_data(), type, 0, depth, 1},
                            portable::transposed(portable::matrix_of(weight)),
                            {out.mutable_data(), type, 0, features, 1},
                            bias != nullptr ? &added : nullptr});
}

}  // namespace

extern const Kernel kMmOut, kAddmmOut, kBmmOut, kBaddbmmOut, kLinearOut;
const Kernel kMmOut = overlay<fast_mm, portable::kMmOut>("aten::mm.out");
const Kernel kAddmmOut = overlay<fast_addmm, portable::kAddmmOut>("aten::addmm.out");
const Kernel kBmmOut = overlay<fast_bmm, portable::kBmmOut, Takes::kComplexToo>("aten::bmm.out");
const Kernel kBaddbmmOut = overlay<fast_baddbmm, portable::kBaddbmmOut>("aten::baddbmm.out");
const Kernel kLinearOut = overlay<fast_linear, portable::kLinearOut>("aten::linear.out");

}  // namespace taper::optimized
