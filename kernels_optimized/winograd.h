// Convolutions with 3 x 3 windows by fewer multiplications (Winograd's minimal filtering; Lavin and
// Gray, "Fast Algorithms for Convolutional Neural Networks", 2015).
//
// The results fall into square tiles, 2 or 4 wide. Each needs a patch of the image that is 2 wider.
// Patches are transformed, all at once, so that the convolution becomes (tile + 2)^2 products of
// matrices [tiles, channels] x [channels, out channels], whose results are transformed back:
// 16 multiplications in place of 36 for tiles of 2, 36 in place of 144 for tiles of 4. Errors are
// up to twice those of the plain sum.
//
// Here are the three transforms; the products are the caller's. Images are [images, height, width,
// channels], filters [out channels, 3, 3, channels]. Threads: functions only touch what they name.

#pragma once

#include <cstdint>

namespace taper::optimized {

struct WinogradShape {
  int64_t images = 1, height = 0, width = 0, channels = 0;
  int64_t out_height = 0, out_width = 0, out_channels = 0;
  int64_t padding_top = 0, padding_left = 0;
  int64_t tile = 4;  // Or 2.

  int64_t points() const { return (tile + 2) * (tile + 2); }
  int64_t tiles_down() const { return (out_height + tile - 1) / tile; }
  int64_t tiles_across() const { return (out_width + tile - 1) / tile; }
  int64_t tiles() const { return images * tiles_down() * tiles_across(); }
};

// Some of the tiles, and the matrices that hold them: row r of each is tile first + r.
struct WinogradTiles {
  int64_t first = 0;
  int64_t begin = 0, end = 0;  // The rows to be worked on.
  int64_t rows = 0;            // Of each matrix.
};

// False if this processor has no vector form of the transforms: then they may not be called.
bool has_winograd();

// Writes points() matrices [out channels, channels] to `to`.
void winograd_filters(const WinogradShape& shape, const float* filters, float* to);

// Writes rows of points() matrices [rows, channels] to `to`. `zeros` are `channels` zeros, which
// stand for the pixels around the image.
void winograd_input(const WinogradShape& shape, const WinogradTiles& tiles, const float* image,
                    const float* zeros, float* to);

// What is done to a result last.
struct WinogradOutput {
  const float* bias = nullptr;  // One per out channel; null: none.
  float min = 0, max = 0;
};

// Reads rows of points() matrices [rows, out channels], writes what of the tiles lies inside the
// result to `out`.
void winograd_output(const WinogradShape& shape, const WinogradTiles& tiles, const float* products,
                     const WinogradOutput& last, float* out);

}  // namespace taper::optimized
