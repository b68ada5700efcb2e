// Winograd's convolution with windows of 3 x 3, in tiles of TILE x TILE results: an image tile of
// SIDE x SIDE, the weights and the sums are transformed along rows, then along columns; between them
// stand SIDE * SIDE products of matrices. Each function transforms one row, or one column.
// See Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, 2015.

layout(constant_id = 0) const uint TILE = 4;  // 2 or 4.

const uint SIDE = TILE + 2;
const uint kMostSide = 6;

float[kMostSide] of_pixels(float x[kMostSide]) {
  if (TILE == 2u) return float[](x[0] - x[2], x[1] + x[2], x[2] - x[1], x[1] - x[3], 0.0, 0.0);
  float a = x[4] - 4.0 * x[2], b = x[3] - 4.0 * x[1];
  float c = x[4] - x[2], d = 2.0 * (x[3] - x[1]);
  return float[](4.0 * x[0] - 5.0 * x[2] + x[4], a + b, a - b, c + d, c - d,
                 4.0 * x[1] - 5.0 * x[3] + x[5]);
}

float[kMostSide] of_weights(float w[3]) {
  float ends = w[0] + w[2];
  if (TILE == 2u) {
    return float[](w[0], 0.5 * (ends + w[1]), 0.5 * (ends - w[1]), w[2], 0.0, 0.0);
  }
  float a = (w[0] + 4.0 * w[2]) / 24.0, b = w[1] / 12.0;
  return float[](w[0] / 4.0, (ends + w[1]) / -6.0, (ends - w[1]) / -6.0, a + b, a - b, w[2]);
}

float[4] of_sums(float s[kMostSide]) {
  float a = s[1] + s[2], b = s[1] - s[2];
  if (TILE == 2u) return float[](s[0] + a, b - s[3], 0.0, 0.0);
  float c = s[3] + s[4], d = s[3] - s[4];
  return float[](s[0] + a + c, b + 2.0 * d, a + 4.0 * c, b + 8.0 * d + s[5]);
}
