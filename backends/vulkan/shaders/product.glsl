// What shaders that multiply matrices in tiles share: which factors there are and where they lie,
// images as matrices, and what is done with a sum.
//
// A factor is made of float32, or is packed (pack_halves.comp): a row of float16, padded with zeros
// to a multiple of eight; or, for gemm.comp and gemm_bytes.comp, it is made of bytes with a scale for
// each row. For a convolution the second factor is the image as a matrix that is never stored: row k
// is an offset in the window, column n an output pixel.

layout(constant_id = 0) const uint kM = 64;  // A workgroup makes kM x kN elements.
layout(constant_id = 1) const uint kN = 64;
layout(constant_id = 2) const uint A_KIND = 1;  // BY_COLUMN, BY_ROW, WIDE_BY_ROW or PACKED.
layout(constant_id = 3) const uint B_KIND = 0;  // Any of the following.
layout(constant_id = 4) const uint BIAS = 0;    // 0: none, 1: of columns, 2: of rows.
layout(constant_id = 5) const uint ACTIVATION = 0;
layout(constant_id = 6) const uint RESIDUAL = 0;  // As Residual in planner/epilogue.h.
layout(constant_id = 7) const uint WINDOW_H = 1;
layout(constant_id = 8) const uint WINDOW_W = 1;
layout(constant_id = 9) const uint WINDOW = 1;  // All elements of a window.
layout(constant_id = 10) const uint kThreads = 256;
layout(constant_id = 11) const uint PARTS = 1;  // Workgroups that share a tile.
layout(local_size_x_id = 10) in;

const uint BY_COLUMN = 0u;       // Consecutive m or n are adjacent.
const uint BY_ROW = 1u;          // Consecutive k are adjacent.
const uint IMAGE = 2u;           // A convolution.
const uint TRANSPOSED = 3u;      // A transposed convolution.
const uint WIDE_BY_COLUMN = 4u;  // The same as above, four elements at a time.
const uint WIDE_BY_ROW = 5u;
const uint PACKED = 6u;          // By row, in float16.
const uint BYTES = 7u;           // By row, signed bytes with a scale for each row.
const uint WIDE_BYTES = 8u;
const uint BY_PIXEL = 16u;       // Added to an image: consecutive k are channels, not pixels.

const uint kImageKind = B_KIND & 15u;
const bool kIsImage = kImageKind == IMAGE || kImageKind == TRANSPOSED;

layout(binding = 0) buffer Out { uint out_[]; };
layout(binding = 1) readonly buffer A { uint a_[]; };
layout(binding = 2) readonly buffer B { uint b_[]; };
layout(binding = 1) readonly buffer AWide { vec4 a_wide_[]; };
layout(binding = 2) readonly buffer BWide { vec4 b_wide_[]; };
layout(binding = 3) readonly buffer Bias { float bias_[]; };
layout(binding = 4) readonly buffer Residual { uint residual_[]; };

// The integers of 8 bits that the factor of float32 stands for: x = (q - zero) * scale. Only for
// gemm_bytes.comp.
struct Grid {
  float inverse, scale;
  int zero;
};

layout(push_constant) uniform Push {
  uint m, n, k;
  uint a_m, a_k, b_k, b_n;  // Strides.
  uint inner;               // Matrix z is number z / inner, z % inner.
  uint a_outer, a_inner, b_outer, b_inner;
  Ending ending;
  int depth, height, width;          // Of the image.
  int out_height, out_width;
  uint strides, pads, dilations;     // Ten bits each: depth, height, width.
  uint part;                         // How much of k a workgroup adds up.
  Grid grid;
};

ivec3 unpack(uint packed) {
  return ivec3(packed & 1023u, packed >> 10 & 1023u, packed >> 20);
}

// Where the window of output pixel n begins in the image; for a transposed convolution, what its
// window index is subtracted from.
ivec3 origin_of(uint n_at) {
  int w = int(n_at) % out_width;
  int rest = int(n_at) / out_width;
  ivec3 at = ivec3(rest / out_height, rest % out_height, w);
  return kImageKind == TRANSPOSED ? at + unpack(pads) : at * unpack(strides) - unpack(pads);
}

// Which place of the window row k is, as an offset in the image, and the channel.
ivec4 window_of(uint k_at) {
  uint channels = k / WINDOW;
  uint at = B_KIND >= BY_PIXEL ? k_at / channels : k_at % WINDOW;
  uint channel = B_KIND >= BY_PIXEL ? k_at % channels : k_at / WINDOW;
  uint row = at / WINDOW_W;  // Of all planes; most windows have one.
  bool is_flat = WINDOW == WINDOW_H * WINDOW_W;
  ivec3 offset = ivec3(is_flat ? 0 : row / WINDOW_H, is_flat ? row : row % WINDOW_H, at % WINDOW_W);
  return ivec4(offset * unpack(dilations), channel);
}

const uint OUTSIDE = 0xffffffffu;

// Where that pixel of the image is, or OUTSIDE.
uint pixel_of(uint base, ivec3 origin, ivec4 in_window) {
  ivec3 at = origin + in_window.xyz;
  if (kImageKind == TRANSPOSED) {
    ivec3 by = unpack(strides);
    ivec3 from = origin - in_window.xyz;
    at = from / by;
    if (any(lessThan(from, ivec3(0))) || at * by != from) return OUTSIDE;
  }
  uvec3 sizes = uvec3(depth, height, width);
  if (any(greaterThanEqual(uvec3(at), sizes))) return OUTSIDE;  // A negative one is a large one.
  return base + ((in_window.w * depth + at.x) * height + at.y) * width + at.z;
}

uint word_of(uint z, uint mi, uint ni, float value) {
  if (PARTS > 1u) return floatBitsToUint(value);
  if (BIAS == 1u) value += bias_[ni];
  if (BIAS == 2u) value += bias_[z % inner * m + mi];
  float other = RESIDUAL != 0u ? FLOAT(residual_, 4, (z * m + mi) * n + ni) : 0.0;
  return result_word(ACTIVATION, RESIDUAL, value, other, ending);
}

// Stores sums, or parts of sums, of kPerWord neighbours in a row; z counts parts, too. The first
// place must be inside the matrix, and even if there are two.
void finish(uint z, uint mi, uint ni, float values[2]) {
  uint at = (z * m + mi) * n + ni, count = min(kPerWord, n - ni);
  uint words[2] = uint[2](0u, 0u);
  [[unroll]] for (uint i = 0; i < kPerWord; ++i) {
    if (i < count) words[i] = word_of(z, mi, ni + i, values[i]);
  }
  if (!IS_HALF(0)) {
    out_[at] = words[0];
  } else if (n % 2u == 0u) {
    out_[at / 2u] = half_at(0u, words[0]) | half_at(1u, words[1]);
  } else {  // A row may begin within a word.
    for (uint i = 0; i < count; ++i) STORE(out_, 0, at + i, words[i])
  }
}
