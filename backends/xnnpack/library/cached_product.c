// Creates the product and packs its weights if the cache lacks them; see cached_product.h.

#include "backends/xnnpack/library/cached_product.h"

#include "xnnpack/allocator.h"
#include "xnnpack/cache.h"
#include "xnnpack/log.h"
#include "xnnpack/math.h"
#include "xnnpack/operator-utils.h"
#include "xnnpack/operator.h"

// The size of the packed weights: for each column a bias, which is 0, and the column's weights.
static size_t packed_bytes(const struct xnn_ukernel_gemm* kernel, size_t batch, size_t depth,
                           size_t columns) {
  const size_t column = 1 + round_up_po2(depth, kernel->kr * kernel->sr);
  const size_t bytes = batch * round_up(columns, kernel->nr) * column * sizeof(float);
  return round_up_po2(bytes, XNN_ALLOCATION_ALIGNMENT);
}

static enum xnn_status pack(xnn_operator_t op, size_t batch, size_t depth, size_t columns,
                            const struct taper_cached_weights* weights,
                            const struct xnn_weights_cache_look_up_key* key) {
  const struct xnn_ukernel_gemm* kernel = &op->ukernel.gemm;
  const float* made = weights->make(weights->context);
  void* packed = made != NULL ? xnn_get_pointer_to_write_weights(op, key->size, 0) : NULL;
  if (packed == NULL) return xnn_status_out_of_memory;
  kernel->packw_gemm_goi(batch, columns, depth, kernel->nr, kernel->kr, kernel->sr, made, NULL,
                         NULL, packed, 0, NULL);
  if (use_weights_cache(op)) {
    op->packed_weights.offset =
        xnn_look_up_or_insert_weights_cache(op->weights_cache, key, packed, key->size);
  }
  return xnn_status_success;
}

enum xnn_status taper_create_cached_product(size_t batch, size_t depth, size_t columns,
                                            const struct taper_cached_weights* weights,
                                            xnn_operator_t* product) {
  xnn_operator_t op = NULL;
  enum xnn_status status = xnn_create_batch_matrix_multiply_nc_f32(XNN_FLAG_TRANSPOSE_B, &op);
  if (status != xnn_status_success) return status;
  op->context.gemm.const_weights = true;
  op->weights_cache = weights->cache;
  struct xnn_weights_cache_look_up_key key = {weights->seed, weights->source, NULL, 0};
  key.size = packed_bytes(&op->ukernel.gemm, batch, depth, columns);
  size_t found = XNN_CACHE_NOT_FOUND;
  if (use_weights_cache(op)) found = xnn_weights_cache_look_up(op->weights_cache, &key);
  if (found != XNN_CACHE_NOT_FOUND) {
    op->packed_weights.offset = found;
  } else {
    status = pack(op, batch, depth, columns, weights, &key);
  }
  if (status == xnn_status_success) {
    *product = op;
  } else {
    xnn_delete_operator(op);
  }
  return status;
}
