// Divides the rows of a tile among XNNPACK's kernels; see f32_rows.h.

#include "backends/xnnpack/library/f32_rows.h"

#include "xnnpack/math.h"
#include "xnnpack/microfnptr.h"

// Set once, before any product is computed.
static struct {
  size_t height;
  xnn_f32_gemm_minmax_ukernel_fn tallest, four, one;
} kernels;

// A kernel for four rows takes as long for three, but longer than that for one row twice.
static size_t rows_at_once(size_t rows) {
  if (rows == kernels.height) return rows;
  return rows >= 3 ? min(rows, 4) : 1;
}

static void gemm(size_t mr, size_t nc, size_t kc, const float* a, size_t a_stride, const float* w,
                 float* c, size_t cm_stride, size_t cn_stride,
                 const union xnn_f32_minmax_params* params) {
  while (mr > 0) {
    const size_t rows = rows_at_once(mr);
    const xnn_f32_gemm_minmax_ukernel_fn kernel = rows == kernels.height ? kernels.tallest
                                                  : rows == 1            ? kernels.one
                                                                         : kernels.four;
    kernel(rows, nc, kc, a, a_stride, w, c, cm_stride, cn_stride, params);
    a = (const float*)((uintptr_t)a + rows * a_stride);
    c = (float*)((uintptr_t)c + rows * cm_stride);
    mr -= rows;
  }
}

static xnn_f32_gemm_minmax_ukernel_fn kernel_of(const struct xnn_gemm_config* config, size_t mr) {
  return (xnn_f32_gemm_minmax_ukernel_fn)config->minmax.gemm[mr - 1].function[XNN_UARCH_DEFAULT];
}

void taper_share_f32_rows(struct xnn_gemm_config* config) {
  kernels.height = config->mr;
  kernels.tallest = kernel_of(config, config->mr);
  kernels.four = kernel_of(config, 4);
  kernels.one = kernel_of(config, 1);
  if (kernels.four == NULL || kernels.one == NULL || kernels.height <= 4) return;
  config->minmax.gemm[config->mr - 1].function[XNN_UARCH_DEFAULT] = (xnn_gemm_ukernel_fn)gemm;
}
