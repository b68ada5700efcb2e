// The float microkernels that are compiled into XNNPACK beside its own, declared as XNNPACK
// declares those. A gemm takes up to as many rows as its name says; so does an igemm, whose
// pointers are in groups of that size.

#pragma once

#include "xnnpack/common.h"
#include "xnnpack/gemm.h"
#include "xnnpack/igemm.h"

#ifdef __cplusplus
extern "C" {
#endif

DECLARE_F32_GEMM_MINMAX_UKERNEL_FUNCTION(taper_f32_gemm_14x32__avx512f)
DECLARE_F32_IGEMM_MINMAX_UKERNEL_FUNCTION(taper_f32_igemm_12x32__avx512f)
DECLARE_F32_IGEMM_MINMAX_UKERNEL_FUNCTION(taper_f32_igemm_6x32__avx512f)

DECLARE_F32_GEMM_MINMAX_UKERNEL_FUNCTION(taper_f32_gemm_6x16__fma3)
DECLARE_F32_IGEMM_MINMAX_UKERNEL_FUNCTION(taper_f32_igemm_6x16__fma3)

#define TAPER_DECLARE_F32_MAX_POOL(name)                                                \
  XNN_INTERNAL void name(size_t output_pixels, size_t kernel_elements, size_t channels, \
                         const float** input, size_t input_offset, float* output,       \
                         size_t input_increment, size_t output_increment,               \
                         const union xnn_f32_minmax_params* params);

// Max pools for any number of pixels in a window.
TAPER_DECLARE_F32_MAX_POOL(taper_f32_max_pool__avx512f)
TAPER_DECLARE_F32_MAX_POOL(taper_f32_max_pool__fma3)

#ifdef __cplusplus
}
#endif
