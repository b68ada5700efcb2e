// What is done to the results of a matrix product or convolution before they leave the cache.
//
// The idea: an activation or a sum after a product reads and writes its whole result once more. An
// epilogue is called with each tile of results as soon as that has been computed, by the thread
// that computed it.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xnnpack.h>

#ifdef __cplusplus
extern "C" {
#endif

struct taper_epilogue {
  // Changes `rows` rows of `bytes` bytes of results in place; a row begins `step` bytes after the
  // one before. `addends`: what lies at the same place of another tensor, or null.
  void (*apply)(const void* context, void* results, const void* addends, size_t rows, size_t bytes,
                size_t step);
  const void* context;
  // Set by XNNPACK.
  bool has_addends;
  const void* addends;
};

// Gives the node that was defined last an epilogue. `addends`: a tensor of the shape of its result
// that is computed before the node, or XNN_INVALID_VALUE_ID. The node is a layer or convolution
// without groups, whose filter is constant and, where there are addends, has a bias. The context
// must outlive the runtime. XNNPACK refuses to create a runtime if another micro-kernel than one of
// products would compute the node.
__attribute__((visibility("hidden"))) enum xnn_status taper_define_epilogue(
    xnn_subgraph_t subgraph, const struct taper_epilogue* epilogue, uint32_t addends);

// For XNNPACK itself: a tile of the image with an index is about to be computed, for which its
// addends are prefetched, and has been computed.
__attribute__((visibility("hidden"))) void taper_begin_tile(xnn_operator_t op, size_t image,
                                                            size_t row, size_t column, size_t rows,
                                                            size_t columns);
__attribute__((visibility("hidden"))) void taper_finish_tile(xnn_operator_t op, size_t image,
                                                             size_t row, size_t column, size_t rows,
                                                             size_t columns);

#ifdef __cplusplus
}
#endif
