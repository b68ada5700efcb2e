// aten::bmm.out: the products of the matrices of two batches, [b, n, k] and [b, k, m].

#include "kernels_portable/cores/matmul.h"
#include "kernels_portable/engine/complex.h"
#include "kernels_portable/engine/lines.h"
#include "kernels_portable/engine/view.h"

namespace taper::portable {
namespace {

constexpr int64_t kBlock = 64;

// The sum of a[i] * b[i] over complex numbers that lie `a_stride` and `b_stride` apart.
void complex_dot(ScalarType type, const void* a, int64_t a_stride, const void* b, int64_t b_stride,
                 int64_t length, double* re, double* im) {
  *re = *im = 0;
  for_each_block(length, kBlock, [&](int64_t first, int64_t count) {
    double x[2][kBlock] = {}, y[2][kBlock] = {};
    for (const bool part : {false, true}) {
      load_part(element(a, first * a_stride, type), type, a_stride, count, part, x[part]);
      load_part(element(b, first * b_stride, type), type, b_stride, count, part, y[part]);
    }
    for (int64_t i = 0; i < count; ++i) {
      *re += x[0][i] * y[0][i] - x[1][i] * y[1][i];
      *im += x[0][i] * y[1][i] + x[1][i] * y[0][i];
    }
  });
}

Status complex_bmm(const Tensor& self, const Tensor& mat2, Tensor& out) {
  const ScalarType type = out.scalar_type();
  TAPER_REQUIRE(self.scalar_type() == type && mat2.scalar_type() == type, Error::kInvalidType,
                "bmm: complex tensors must share one dtype");
  const Span<const int32_t> a = self.strides(), b = mat2.strides(), c = out.strides();
  for (int64_t batch = 0; batch < out.size(0); ++batch) {
    for (int64_t i = 0; i < out.size(1); ++i) {
      for (int64_t j = 0; j < out.size(2); ++j) {
        double re, im;
        const void* row = element(self.const_data(), batch * a[0] + i * a[1], type);
        const void* column = element(mat2.const_data(), batch * b[0] + j * b[2], type);
        complex_dot(type, row, a[2], column, b[1], self.size(2), &re, &im);
        void* to = element(out.mutable_data(), batch * c[0] + i * c[1] + j * c[2], type);
        store_part(&re, 1, to, type, 1, false);
        store_part(&im, 1, to, type, 1, true);
      }
    }
  }
  return {};
}

Status bmm_out(KernelContext&, const Tensor& self, const Tensor& mat2, Tensor& out) {
  TAPER_REQUIRE(self.dim() == 3 && mat2.dim() == 3, Error::kInvalidArgument,
                "bmm: operands must be batches of matrices");
  TAPER_REQUIRE(self.size(0) == mat2.size(0) && self.size(2) == mat2.size(1),
                Error::kInvalidArgument, "bmm: sizes of self and mat2 do not fit");
  const int64_t sizes[] = {self.size(0), self.size(1), mat2.size(2)};
  if (is_complex(out.scalar_type())) {
    TAPER_TRY(resize_out(out, sizes, 3));
    return complex_bmm(self, mat2, out);
  }
  TAPER_TRY(check_product_types(self, mat2, out));
  TAPER_TRY(resize_out(out, sizes, 3));
  for (int64_t b = 0; b < sizes[0]; ++b) {
    matmul({sizes[1], sizes[2], self.size(2), matrix_of(self, b), matrix_of(mat2, b),
            matrix_of(out, b)});
  }
  return {};
}

}  // namespace

extern const Kernel kBmmOut;
const Kernel kBmmOut = make_kernel<bmm_out, Takes::kComplexToo>("aten::bmm.out");

}  // namespace taper::portable
