// Tells an epilogue where a tile's results lie; see epilogue.h.

#include "backends/xnnpack/library/epilogue.h"

#include "xnnpack/operator.h"
#include "xnnpack/subgraph.h"

enum xnn_status taper_define_epilogue(xnn_subgraph_t subgraph,
                                      const struct taper_epilogue* epilogue, uint32_t addends) {
  struct xnn_node* node = &subgraph->nodes[subgraph->num_nodes - 1];
  const bool is_product =
      node->type == xnn_node_type_convolution_2d || node->type == xnn_node_type_fully_connected;
  const bool has_addends = addends != XNN_INVALID_VALUE_ID;
  if (!is_product || (has_addends && node->num_inputs != 3)) return xnn_status_invalid_parameter;
  node->epilogue = *epilogue;
  node->epilogue.has_addends = has_addends;
  if (has_addends) node->inputs[node->num_inputs++] = addends;
  return xnn_status_success;
}

// Where a tile of the results is.
struct tile {
  uintptr_t results;
  size_t offset;  // From the first result of all.
  size_t bytes;   // Of a row.
  size_t step;    // From one row to the next.
};

static struct tile find_tile(xnn_operator_t op, size_t image, size_t row, size_t column,
                             size_t columns) {
  struct tile tile;
  uint32_t log2_size;
  if (op->ukernel.type == xnn_microkernel_type_gemm) {
    const struct gemm_context* context = &op->context.gemm.gemm.gemm;
    tile.results = (uintptr_t)context->c;
    tile.step = context->cm_stride;
    log2_size = context->log2_csize;
    tile.offset = 0;
  } else {
    const struct igemm_context* context = &op->context.igemm.igemm;
    tile.results = (uintptr_t)context->c;
    tile.step = context->cm_stride;
    log2_size = context->log2_csize;
    tile.offset = image * context->bc_stride;
  }
  tile.offset += row * tile.step + (column << log2_size);
  tile.bytes = columns << log2_size;
  return tile;
}

void taper_begin_tile(xnn_operator_t op, size_t image, size_t row, size_t column, size_t rows,
                      size_t columns) {
  if (!op->epilogue.has_addends) return;
  const struct tile tile = find_tile(op, image, row, column, columns);
  const char* addends = (const char*)op->epilogue.addends + tile.offset;
  for (size_t r = 0; r < rows; r++, addends += tile.step) {
    for (size_t b = 0; b < tile.bytes; b += 64) __builtin_prefetch(addends + b);
  }
}

void taper_finish_tile(xnn_operator_t op, size_t image, size_t row, size_t column, size_t rows,
                       size_t columns) {
  const struct taper_epilogue* epilogue = &op->epilogue;
  if (epilogue->apply == NULL) return;
  const struct tile tile = find_tile(op, image, row, column, columns);
  const uintptr_t addends = (uintptr_t)epilogue->addends;
  epilogue->apply(epilogue->context, (void*)(tile.results + tile.offset),
                  epilogue->has_addends ? (const void*)(addends + tile.offset) : NULL, rows,
                  tile.bytes, tile.step);
}
