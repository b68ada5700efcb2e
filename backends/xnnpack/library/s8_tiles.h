// The int8 microkernels that are compiled into XNNPACK beside its own, declared as XNNPACK declares
// those. A gemm takes up to as many rows as its name says; so does an igemm, whose pointers are in
// groups of that size.

#pragma once

#include "xnnpack/common.h"
#include "xnnpack/gemm.h"
#include "xnnpack/igemm.h"

#ifdef __cplusplus
extern "C" {
#endif

DECLARE_QS8_QC8W_GEMM_MINMAX_UKERNEL_FUNCTION(taper_qs8_gemm_32x32c4__amx)
DECLARE_QS8_QC8W_IGEMM_MINMAX_UKERNEL_FUNCTION(taper_qs8_igemm_32x32c4__amx)
DECLARE_QS8_QC8W_IGEMM_MINMAX_UKERNEL_FUNCTION(taper_qs8_igemm_1x32c4__amx)

DECLARE_QD8_F32_QC8W_GEMM_MINMAX_UKERNEL_FUNCTION(taper_qd8_f32_gemm_32x32c4__amx)
DECLARE_QD8_F32_QC8W_IGEMM_MINMAX_UKERNEL_FUNCTION(taper_qd8_f32_igemm_32x32c4__amx)
DECLARE_QD8_F32_QC8W_IGEMM_MINMAX_UKERNEL_FUNCTION(taper_qd8_f32_igemm_1x32c4__amx)

DECLARE_QS8_QC8W_GEMM_MINMAX_UKERNEL_FUNCTION(taper_qs8_gemm_14x32c4__avx512vnni)
DECLARE_QS8_QC8W_IGEMM_MINMAX_UKERNEL_FUNCTION(taper_qs8_igemm_14x32c4__avx512vnni)
DECLARE_QS8_QC8W_IGEMM_MINMAX_UKERNEL_FUNCTION(taper_qs8_igemm_1x32c4__avx512vnni)

DECLARE_QD8_F32_QC8W_GEMM_MINMAX_UKERNEL_FUNCTION(taper_qd8_f32_gemm_14x32c4__avx512vnni)
DECLARE_QD8_F32_QC8W_IGEMM_MINMAX_UKERNEL_FUNCTION(taper_qd8_f32_igemm_14x32c4__avx512vnni)
DECLARE_QD8_F32_QC8W_IGEMM_MINMAX_UKERNEL_FUNCTION(taper_qd8_f32_igemm_1x32c4__avx512vnni)

DECLARE_QS8_QC8W_GEMM_MINMAX_UKERNEL_FUNCTION(taper_qs8_gemm_6x16c2__avx2)
DECLARE_QS8_QC8W_IGEMM_MINMAX_UKERNEL_FUNCTION(taper_qs8_igemm_6x16c2__avx2)
DECLARE_QS8_QC8W_IGEMM_MINMAX_UKERNEL_FUNCTION(taper_qs8_igemm_1x16c2__avx2)

DECLARE_QD8_F32_QC8W_GEMM_MINMAX_UKERNEL_FUNCTION(taper_qd8_f32_gemm_6x16c2__avx2)
DECLARE_QD8_F32_QC8W_IGEMM_MINMAX_UKERNEL_FUNCTION(taper_qd8_f32_igemm_6x16c2__avx2)
DECLARE_QD8_F32_QC8W_IGEMM_MINMAX_UKERNEL_FUNCTION(taper_qd8_f32_igemm_1x16c2__avx2)

// Depthwise convolutions with windows of up to nine taps.
XNN_INTERNAL void taper_qs8_dwconv_9p64c__avx512vnni(
    size_t channels, size_t output_width, const int8_t** input, const void* weights, int8_t* output,
    intptr_t input_stride, size_t output_increment, size_t input_offset, const int8_t* zero,
    const union xnn_qs8_qc8w_conv_minmax_params* params);

// Sums and products, element by element.
XNN_INTERNAL void taper_qs8_vadd__avx512skx(size_t batch, const int8_t* a, const int8_t* b,
                                            int8_t* output,
                                            const struct xnn_qs8_add_minmax_params* params);
XNN_INTERNAL void taper_qs8_vmul__avx512skx(size_t batch, const int8_t* a, const int8_t* b,
                                            int8_t* output,
                                            const union xnn_qs8_mul_minmax_params* params);

#ifdef __cplusplus
}
#endif
