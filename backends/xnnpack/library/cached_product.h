// A batch of matrix products with constant weights, [batch, rows, depth] x [batch, depth, columns],
// which uses a weights cache. XNNPACK's own operator does not.

#pragma once

#include <stddef.h>
#include <stdint.h>
#include <xnnpack.h>

#ifdef __cplusplus
extern "C" {
#endif

struct taper_cached_weights {
  // The key in the cache: `source` is the constant that the weights are made from, `seed` says how.
  const void* source;
  uint32_t seed;
  xnn_weights_cache_t cache;  // May be null.
  // Called once if the weights are not in the cache. Returns floats [batch, columns, depth], which
  // are read before taper_create_cached_product() returns, or null if there is no memory for them.
  const float* (*make)(void* context);
  void* context;
};

// Like xnn_create_batch_matrix_multiply_nc_f32_const_weights(). No shared library exports it.
__attribute__((visibility("hidden"))) enum xnn_status taper_create_cached_product(
    size_t batch, size_t depth, size_t columns, const struct taper_cached_weights* weights,
    xnn_operator_t* product);

#ifdef __cplusplus
}
#endif
