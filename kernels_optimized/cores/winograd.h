// Winograd's minimal filtering: 3 x 3, 1 x 3 and 3 x 1 convolutions with fewer multiplications
// (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2015).
//
// The results are divided into tiles, 2 or 4 wide along each side of the window that has 3 taps,
// and 1 along the other. Each tile needs a patch of the image that is 2 wider where the tile is.
// Filters and patches are transformed, so that the convolution becomes a matrix product for each
// pixel of a patch, [tiles, channels] x [channels, out channels], whose results are transformed
// back. That takes 16 multiplications instead of 36 for square tiles of 2, 36 instead of 144 for
// those of 4; in one dimension 4 instead of 6, and 6 instead of 12. Rounding errors are up to twice
// those of the plain sum.
//
// A dilated convolution is a plain one of every dilation-th row and column: each of these smaller
// images has tiles of its own.
//
// A convolution of volumes is one of their slices: a window that is several taps deep reads that
// many slices, whose channels are side by side in the matrices and in the filters.
//
// Each group of channels is a convolution by itself, whose pixels lie apart.
//
// This file has the three transforms; the caller computes the products. Images are [images, height,
// width, channels], filters [out channels, window height, window width, channels]. Threads:
// functions access only the memory that is passed.

#pragma once

#include <cstdint>

namespace taper::optimized {

struct WinogradShape {
  int64_t images = 1, height = 0, width = 0, channels = 0;
  int64_t out_height = 0, out_width = 0, out_channels = 0;
  int64_t padding_top = 0, padding_left = 0;
  int64_t tile = 4;  // 2 or 4.
  int64_t dilation_down = 1, dilation_across = 1;
  // Of volumes: `images` is the number of slices of the result, out_depth of each volume.
  int64_t taps = 1, depth = 1, out_depth = 1, padding_front = 0, dilation_deep = 1;
  int64_t groups = 1;  // `channels` and `out_channels` are those of a group.
  // Both are 3, or one is 1, whose dilation is 1 then.
  int64_t window_height = 3, window_width = 3;

  // The columns of the matrices of patches.
  int64_t terms() const { return taps * channels; }
  bool is_square() const { return window_height == window_width; }
  int64_t window() const { return window_height * window_width; }
  int64_t points() const { return is_square() ? (tile + 2) * (tile + 2) : tile + 2; }
  int64_t tile_height() const { return window_height == 1 ? 1 : tile; }
  int64_t tile_width() const { return window_width == 1 ? 1 : tile; }
  int64_t tiles_down() const {
    return dilation_down * tiles_along(out_height, dilation_down, tile_height());
  }
  int64_t tiles_across() const {
    return dilation_across * tiles_along(out_width, dilation_across, tile_width());
  }
  int64_t tiles() const { return images * tiles_down() * tiles_across(); }
  // The tiles of one of the smaller images along a side, where a tile has `width` results.
  static int64_t tiles_along(int64_t size, int64_t dilation, int64_t width) {
    return ((size + dilation - 1) / dilation + width - 1) / width;
  }
};

// Some of the tiles, and the matrices that hold them: row r of each matrix is tile first + r.
struct WinogradTiles {
  int64_t first = 0;
  int64_t begin = 0, end = 0;  // The rows to be computed.
  int64_t rows = 0;            // The number of rows of each matrix.
};

// Whether the transforms may be called: false if this processor has no vector form of them.
bool has_winograd();

// Transforms the filters to points() matrices [out channels, terms] at `to`.
void winograd_filters(const WinogradShape& shape, const float* filters, float* to);

// Transforms patches of the image, from the first channel of a group on, to rows of points()
// matrices [rows, terms] at `to`. `zeros` are `channels` zeros, read in place of the pixels around
// the image.
void winograd_input(const WinogradShape& shape, const WinogradTiles& tiles, const float* image,
                    const float* zeros, float* to);

// What is applied to the results: the bias is added, then they are clamped to [min, max].
struct WinogradOutput {
  const float* bias = nullptr;  // One per output channel; null: none.
  float min = 0, max = 0;
};

// Transforms rows of points() matrices [rows, out channels] back and writes the part of each tile
// that lies inside the result to `out`.
void winograd_output(const WinogradShape& shape, const WinogradTiles& tiles, const float* products,
                     const WinogradOutput& last, float* out);

}  // namespace taper::optimized
