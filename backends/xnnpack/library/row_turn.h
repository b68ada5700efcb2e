// The number of the tile that this thread is computing, among the tiles of rows that use the same
// block of weights. columns_first.patch sets it, tall_tile.h and s8_tiles_amx.cpp read it.

#pragma once

#include <stddef.h>

#include "xnnpack/common.h"

#ifdef __cplusplus
extern "C" {
#endif

struct taper_row_turn {
  size_t tile;
  size_t tiles;  // 0 if not known.
};

XNN_INTERNAL extern __thread struct taper_row_turn taper_row_turn;

#ifdef __cplusplus
}
#endif
