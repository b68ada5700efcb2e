// Products of floats on 64-bit ARM whose rows are not a multiple of a tile's height.
//
// XNNPACK's kernels there compute six rows, whatever number is left: they compute the last of the
// 49 rows of a 7 x 7 image six times, a tenth of the work. Its kernels for four rows and for one
// row do less. Results are bit-identical, because each row is summed in the same order.

#pragma once

#include "xnnpack/config.h"

#ifdef __cplusplus
extern "C" {
#endif

// Makes the tallest kernel of the configuration leave rows that do not fill it to the others.
XNN_INTERNAL void taper_share_f32_rows(struct xnn_gemm_config* config);

#ifdef __cplusplus
}
#endif
