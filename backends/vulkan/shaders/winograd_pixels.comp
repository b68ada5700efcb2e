#version 450
// Images [image, channel, height, width] in tiles, as winograd.glsl has them: matrices
// [SIDE * SIDE, channel, tile]. A thread transforms one tile of one channel; tiles beyond the last
// one, which fill up rows of the matrices, are zero.

#extension GL_EXT_control_flow_attributes : require
#include "common.glsl"
#include "winograd.glsl"

layout(local_size_x = 256) in;

layout(binding = 0) writeonly buffer Out { float out_[]; };
layout(binding = 1) readonly buffer Image { float image_[]; };

layout(push_constant) uniform Push {
  uint count;            // channels * row
  uint row;              // Tiles of all images, and those that fill up.
  uint tiles;            // Tiles of all images.
  uint down, across;     // Tiles of an image.
  int channels, height, width;
  int pad_h, pad_w;
};

void main() {
  uint index = FLAT_GROUP * 256u + gl_LocalInvocationID.x;
  if (index >= count) return;
  uint tile = index % row, channel = index / row;
  uint image = tile / (down * across);
  int top = int(tile / across % down * TILE) - pad_h, left = int(tile % across * TILE) - pad_w;
  uint plane = (image * channels + channel) * height * width;
  float rows[kMostSide][kMostSide];
  [[unroll]] for (uint y = 0; y < SIDE; ++y) {
    int iy = top + int(y);
    bool is_row = tile < tiles && iy >= 0 && iy < height;
    float pixels[kMostSide] = float[](0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
    [[unroll]] for (uint x = 0; x < SIDE; ++x) {
      int ix = left + int(x);
      bool is_inside = is_row && ix >= 0 && ix < width;
      pixels[x] = is_inside ? image_[plane + iy * width + ix] : 0.0;
    }
    rows[y] = of_pixels(pixels);
  }
  [[unroll]] for (uint x = 0; x < SIDE; ++x) {
    float column[kMostSide];
    [[unroll]] for (uint y = 0; y < kMostSide; ++y) column[y] = y < SIDE ? rows[y][x] : 0.0;
    column = of_pixels(column);
    [[unroll]] for (uint y = 0; y < SIDE; ++y) out_[(y * SIDE + x) * count + index] = column[y];
  }
}
