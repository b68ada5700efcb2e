#version 450
// Sums [SIDE * SIDE, channel, tile] of products as results [image, channel, height, width], with
// what comes after a sum (winograd.glsl). A thread makes one tile of one channel.

#extension GL_EXT_control_flow_attributes : require
#include "common.glsl"
#include "epilogue.glsl"
#include "winograd.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 1) const uint BIAS = 0;
layout(constant_id = 2) const uint ACTIVATION = 0;
layout(constant_id = 3) const uint RESIDUAL = 0;  // As Residual in planner/epilogue.h.

layout(binding = 0) writeonly buffer Out { uint out_[]; };
layout(binding = 1) readonly buffer Sums { float sums_[]; };
layout(binding = 2) readonly buffer Bias { float bias_[]; };
layout(binding = 3) readonly buffer Residual { float residual_[]; };

layout(push_constant) uniform Push {
  uint row;           // Tiles of all images, and those that fill up.
  uint tiles;         // Tiles of all images.
  uint down, across;  // Tiles of an image.
  uint channels, height, width;
  Ending ending;
};

void main() {
  uint index = FLAT_GROUP * 256u + gl_LocalInvocationID.x;
  if (index >= channels * tiles) return;
  uint tile = index % tiles, channel = index / tiles;
  uint from = channel * row + tile, matrix = channels * row;
  float rows[kMostSide][4];
  [[unroll]] for (uint y = 0; y < SIDE; ++y) {
    float sums[kMostSide] = float[](0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
    [[unroll]] for (uint x = 0; x < SIDE; ++x) sums[x] = sums_[(y * SIDE + x) * matrix + from];
    rows[y] = of_sums(sums);
  }
  uint image = tile / (down * across);
  uint top = tile / across % down * TILE, left = tile % across * TILE;
  uint plane = (image * channels + channel) * height * width;
  float bias = BIAS != 0u ? bias_[channel] : 0.0;
  [[unroll]] for (uint x = 0; x < TILE; ++x) {
    float column[kMostSide];
    [[unroll]] for (uint y = 0; y < kMostSide; ++y) column[y] = y < SIDE ? rows[y][x] : 0.0;
    float results[4] = of_sums(column);
    [[unroll]] for (uint y = 0; y < TILE; ++y) {
      if (top + y >= height || left + x >= width) continue;
      uint at = plane + (top + y) * width + left + x;
      float other = RESIDUAL != 0u ? residual_[at] : 0.0;
      out_[at] = result_word(ACTIVATION, RESIDUAL, results[y] + bias, other, ending);
    }
  }
}
