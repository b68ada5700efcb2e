// What shaders that multiply integers of 8 bits share: one factor is bytes, and the numbers of the
// other are known to stand for integers of 8 bits, which they become on their way to shared memory.
// There a word holds four that follow each other along k. Sums are exact, also those of parts, and
// are multiplied by both scales at the end.
//
// It needs VK_KHR_shader_integer_dot_product.

layout(constant_id = 12) const uint GRID = 0;     // 0: pushed, 1: scale and zero are tensors, and
                                                  // the pushed zero is added to that.
layout(constant_id = 13) const uint kWords = 16;  // Of k at a time.

layout(binding = 1) readonly buffer ABytes { uint a_bytes_[]; };
layout(binding = 2) readonly buffer BBytes { uint b_bytes_[]; };
layout(binding = 5) readonly buffer Scales { float scales_[]; };
layout(binding = 6) readonly buffer GridScale { float grid_scale_[]; };
layout(binding = 7) readonly buffer GridZero { int grid_zero_[]; };

// OpSDot: the sum of products of four signed bytes; format 0 says that they are in words.
spirv_instruction(extensions = ["SPV_KHR_integer_dot_product"], capabilities = [6018, 6019],
                  id = 4450)
int dot_of_bytes(uint a, uint b, spirv_literal int format);

const bool kAHasBytes = A_KIND == BYTES || A_KIND == WIDE_BYTES;
const bool kBAlongK = B_KIND == BY_ROW || B_KIND == WIDE_BY_ROW || B_KIND == BYTES ||
                      B_KIND == WIDE_BYTES;
const uint kALoads = kM * kWords / kThreads, kBLoads = kN * kWords / kThreads;  // Per thread.

// Sums of the bytes of each row of that factor.
shared int byte_sums[kAHasBytes ? kM : kN];
int sums_of_loads[kAHasBytes ? kALoads : kBLoads];

float inverse, scale, offset;
int zero;

// What the numbers of a factor stand for; byte_sums is zero after the next barrier.
void begin_bytes() {
  inverse = GRID == 0u ? grid.inverse : 1.0 / grid_scale_[0];
  scale = GRID == 0u ? grid.scale : grid_scale_[0];
  zero = GRID == 0u ? grid.zero : grid.zero + grid_zero_[0];
  offset = 12582912.0 + float(zero);  // 1.5 * 2^23
  for (uint i = gl_LocalInvocationID.x; i < byte_sums.length(); i += kThreads) byte_sums[i] = 0;
  [[unroll]] for (uint i = 0; i < sums_of_loads.length(); ++i) sums_of_loads[i] = 0;
}

// Four numbers as the integers that they stand for: they become the last bits of a float that is so
// large that its fraction is whole, as in bytes.glsl.
uint integers_of(vec4 x) {
  uvec4 q = floatBitsToUint(x * inverse + offset);
  uvec2 pairs = (q.xz & 255u) | (q.yw << 8 & 0xff00u);
  return pairs.x | pairs.y << 16;
}

// Which elements of a tile load number i of a thread is: (row or column, word of k). They follow each
// other along k, or along n.
uvec2 place_of(uint i, uint rows, bool is_along_k) {
  uint at = i * kThreads + gl_LocalInvocationID.x;
  return is_along_k ? uvec2(at / kWords, at % kWords) : uvec2(at % rows, at / rows);
}
uvec2 a_place_of(uint i) { return place_of(i, kM, true); }
uvec2 b_place_of(uint i) { return place_of(i, kN, kBAlongK); }

uint bytes_of_a(uint from, uint at, uint k_to) {
  if (A_KIND == WIDE_BYTES) return at < k_to ? a_bytes_[from / 4] : 0u;
  uint word = 0;
  [[unroll]] for (uint j = 0; j < 4; ++j) {
    uint byte_ = at + j < k_to ? a_bytes_[(from + j) / 4] >> 8 * ((from + j) % 4) & 255u : 0u;
    word |= byte_ << 8 * j;
  }
  return word;
}
uint bytes_of_b(uint from, uint at, uint k_to) {
  if (B_KIND == WIDE_BYTES) return at < k_to ? b_bytes_[from / 4] : 0u;
  uint word = 0;
  [[unroll]] for (uint j = 0; j < 4; ++j) {
    uint byte_ = at + j < k_to ? b_bytes_[(from + j) / 4] >> 8 * ((from + j) % 4) & 255u : 0u;
    word |= byte_ << 8 * j;
  }
  return word;
}

// Numbers beyond k are multiplied by bytes that are zero.
vec4 numbers_of_a(uint from, uint at, uint k_to) {
  if (A_KIND == WIDE_BY_ROW) return a_wide_[at < k_to ? from / 4 : 0];
  vec4 x;
  [[unroll]] for (uint j = 0; j < 4; ++j) {
    x[j] = uintBitsToFloat(a_[at + j < k_to ? from + j * a_k : 0]);
  }
  return x;
}
vec4 numbers_of_b(uint base, uint ni, uint at, uint k_to, ivec3 origin) {
  uint from = base + at * b_k + ni * b_n;
  if (B_KIND == WIDE_BY_ROW) return b_wide_[at < k_to ? from / 4 : 0];
  vec4 x;
  [[unroll]] for (uint j = 0; j < 4; ++j) {
    uint pixel = kIsImage ? pixel_of(base, origin, window_of(at + j)) : from + j * b_k;
    bool is_inside = at + j < k_to && pixel != OUTSIDE;
    x[j] = is_inside ? uintBitsToFloat(b_[pixel]) : 0.0;
  }
  return x;
}

// Four elements as they lie in memory: a word of bytes, or four numbers. Of rows and columns beyond m
// and n, which are not stored, the first one is read.
uvec4 load_a(uint base, uint mi, uint at, uint k_to) {
  uint from = base + (mi < m ? mi : 0) * a_m + at * a_k;
  return kAHasBytes ? uvec4(bytes_of_a(from, at, k_to), 0u, 0u, 0u)
                    : floatBitsToUint(numbers_of_a(from, at, k_to));
}
uvec4 load_b(uint base, uint ni, uint at, uint k_to, ivec3 origin) {
  uint column = ni < n ? ni : 0;
  return kAHasBytes ? floatBitsToUint(numbers_of_b(base, column, at, k_to, origin))
                    : uvec4(bytes_of_b(base + at * b_k + column * b_n, at, k_to), 0u, 0u, 0u);
}

// What load number i of either factor has, as a word of integers.
uint word_of_load(uint i, bool has_bytes, uvec4 loaded) {
  if (!has_bytes) return integers_of(uintBitsToFloat(loaded));
  sums_of_loads[i] += dot_of_bytes(loaded.x, 0x01010101u, 0);
  return loaded.x;
}
uint a_word(uint i, uvec4 loaded) { return word_of_load(i, kAHasBytes, loaded); }
uint b_word(uint i, uvec4 loaded) { return word_of_load(i, !kAHasBytes, loaded); }

// All threads come here when nothing more is loaded.
void add_up_bytes() {
  [[unroll]] for (uint i = 0; i < sums_of_loads.length(); ++i) {
    atomicAdd(byte_sums[place_of(i, kAHasBytes ? kM : kN, true).x], sums_of_loads[i]);
  }
  barrier();
}

// As finish() of product.glsl, for sums of products of integers as they are, of the elements from
// `row` and `column` of the tile on. Parts stay integers.
void finish_bytes(uvec2 corner, uint row, uint column, int sums[2]) {
  uint z = gl_WorkGroupID.z, mi = corner.x + row, ni = corner.y + column;
  if (mi >= m || ni >= n) return;
  float values[2];
  [[unroll]] for (uint e = 0; e < kPerWord; ++e) {
    int sum = sums[e] - zero * byte_sums[kAHasBytes ? row : column + e];
    if (PARTS > 1u) {
      if (ni + e < n) out_[(z * m + mi) * n + ni + e] = uint(sum);
      continue;
    }
    uint at = kAHasBytes ? z % inner * m + mi : min(ni + e, n - 1);
    values[e] = scaled_sum(sum, scale, scales_[at]);
  }
  if (PARTS == 1u) finish(z, mi, ni, values);
}
