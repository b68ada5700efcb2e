// Which of the tiles that take the same block of weights through their rows is computed by this
// thread now. Entered by columns_first.patch, read by tall_tile.h.

#pragma once

#include <stddef.h>

#include "xnnpack/common.h"

#ifdef __cplusplus
extern "C" {
#endif

struct taper_row_turn {
  size_t tile;
  size_t tiles;  // 0: not known.
};

XNN_INTERNAL extern __thread struct taper_row_turn taper_row_turn;

#ifdef __cplusplus
}
#endif
