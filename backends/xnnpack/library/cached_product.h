// XNNPACK's batch of matrix products with constant weights, [batch, rows, depth] x [batch, depth,
// columns], with weights that a cache may have packed already. XNNPACK's own takes no cache.

#pragma once

#include <stddef.h>
#include <stdint.h>
#include <xnnpack.h>

#ifdef __cplusplus
extern "C" {
#endif

struct taper_cached_weights {
  // What the cache knows them by: `source` is the constant that they are made of, `seed` says how.
  const void* source;
  uint32_t seed;
  xnn_weights_cache_t cache;  // May be null.
  // Called once if they are not in the cache. Returns [batch, columns, depth] floats, which are
  // read before the product is there, or null if there is no memory for them.
  const float* (*make)(void* context);
  void* context;
};

// As xnn_create_batch_matrix_multiply_nc_f32_const_weights(). No library shows it.
__attribute__((visibility("hidden"))) enum xnn_status taper_create_cached_product(
    size_t batch, size_t depth, size_t columns, const struct taper_cached_weights* weights,
    xnn_operator_t* product);

#ifdef __cplusplus
}
#endif
