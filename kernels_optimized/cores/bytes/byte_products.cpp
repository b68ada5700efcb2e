// Sixty-four bytes of weights at a time; see byte_products.h. Intrinsics, since Highway's version
// here has no dot products of bytes.

#include "kernels_optimized/cores/bytes/byte_products.h"

#include <algorithm>
#include <cstring>

#include "kernels_optimized/engine/x86_features.h"
#include "kernels_optimized/engine/x86_intrinsics.h"

#if defined(__x86_64__)
#define TAPER_VNNI __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))
#define TAPER_VNNI_INLINE TAPER_VNNI inline __attribute__((always_inline))
#endif

namespace taper::optimized {
namespace {

using portable::PackedLinear;
using portable::PackedMatrix;

constexpr int64_t kChunk = 64;     // Bytes of weights in a vector.
constexpr int64_t kShift = 128;    // What is added to the input, so that it has no sign.
constexpr int64_t kTileRows = 16;  // Rows of weights that stay in the cache.

int64_t group_bytes(const PackedMatrix& matrix) {
  return (matrix.group_length() * matrix.bits + 7) / 8;
}
int64_t chunks_of(const PackedMatrix& matrix) { return (matrix.row_bytes() + kChunk - 1) / kChunk; }
int64_t arranged_row(const PackedMatrix& matrix) {
  return chunks_of(matrix) * kChunk * (8 / matrix.bits);
}

// A lane of four bytes may not cross groups, and a vector has whole groups or a part of one.
bool has_whole_groups(const PackedMatrix& matrix) {
  if (matrix.groups() == 1) return true;
  const int64_t bytes = group_bytes(matrix);
  return matrix.group_length() * matrix.bits % 32 == 0 &&
         (kChunk % bytes == 0 || bytes % kChunk == 0);
}

// Whether the weights less their zero points are bytes.
bool are_bytes(const PackedMatrix& matrix) {
  const Tensor* points = matrix.zero_points;
  if (matrix.bits == 8 && matrix.weight->scalar_type() != ScalarType::kChar) return false;
  if (points == nullptr) return true;
  if (matrix.bits == 8 || points->scalar_type() != ScalarType::kChar) return false;
  const int8_t* data = points->const_data_ptr<int8_t>();
  return std::all_of(data, data + points->numel(),
                     [](int8_t point) { return point >= -100 && point <= 100; });
}

#if defined(__x86_64__)

// How many bytes of weights are on their way to the cache.
constexpr int64_t kAhead = 4096;

// Rows [first, first + count) of weights, with their scales and what to subtract from their bytes.
struct Tile {
  const PackedLinear& layer;
  const uint8_t* x;
  int64_t first, count;
  const float* scales;
  const int32_t* zeros;  // The byte four times; null if it is the offset of the matrix for all.
};

// The byte in each of the four of a lane.
int32_t in_lane(float zero) {
  return static_cast<int32_t>(static_cast<uint8_t>(static_cast<int8_t>(zero)) * 0x01010101U);
}

// One number for each lane of a chunk: that of the group in which it lies.
struct LaneGroups {
  int64_t groups, per_chunk, chunks_per_group;
  __m512i index;

  TAPER_VNNI_INLINE explicit LaneGroups(const PackedMatrix& matrix) : groups(matrix.groups()) {
    const int64_t bytes = groups == 1 ? kChunk * chunks_of(matrix) : group_bytes(matrix);
    per_chunk = std::max<int64_t>(1, kChunk / bytes);
    chunks_per_group = std::max<int64_t>(1, bytes / kChunk);
    int32_t lanes[16];
    for (int i = 0; i < 16; ++i) lanes[i] = static_cast<int32_t>(i * per_chunk / 16);
    index = _mm512_loadu_si512(lanes);
  }
  // The first group of a chunk.
  TAPER_VNNI_INLINE int64_t group_of(int64_t chunk) const {
    return per_chunk == 1 ? chunk / chunks_per_group : chunk * per_chunk;
  }
  // Those of the groups from `group` on that are there.
  TAPER_VNNI_INLINE __mmask16 mask_of(int64_t group) const {
    return static_cast<__mmask16>((1U << std::min(per_chunk, groups - group)) - 1);
  }
  // `from` points to the number of the first group of the chunk.
  TAPER_VNNI_INLINE __m512i lanes_of(const void* from, __mmask16 mask) const {
    return _mm512_permutexvar_epi32(index, _mm512_maskz_loadu_epi32(mask, from));
  }
};

// The bytes of a chunk that are there, `left` being to come.
TAPER_VNNI_INLINE __mmask64 mask_of_bytes(int64_t left) {
  return left >= kChunk ? ~uint64_t{0} : (uint64_t{1} << left) - 1;
}

// For kWeights rows of weights from `n` on: their sums with kRows rows of input from `row` on, and
// with the row of ones behind them all.
template <int kBits, int kRows, int kWeights>
TAPER_VNNI_INLINE void sum_rows(const Tile& tile, const LaneGroups& lanes, int64_t row, int64_t n,
                                __m512 (&sums)[kWeights][kRows + 1]) {
  constexpr int kPerByte = 8 / kBits;
  const PackedMatrix& matrix = tile.layer.matrix;
  const int64_t stride = arranged_row(matrix), bytes = matrix.row_bytes(), groups = lanes.groups;
  const uint8_t* x = tile.x + row * stride;
  const uint8_t* ones = tile.x + tile.layer.rows() * stride;
  const uint8_t* weights = static_cast<const uint8_t*>(matrix.weight->const_data()) + n * bytes;
  const float* scales = tile.scales + (n - tile.first) * groups;
  const int32_t* zeros = tile.zeros == nullptr ? nullptr : tile.zeros + (n - tile.first) * groups;
  const __m512i mask = _mm512_set1_epi8((1 << (kBits % 8)) - 1);
  const __m512i offset = _mm512_set1_epi8(static_cast<char>(matrix.offset()));
  for (auto& each : sums) {
    for (__m512& sum : each) sum = _mm512_setzero_ps();
  }
  for (int64_t at = 0, chunk = 0; at < bytes; at += kChunk, ++chunk) {
    const int64_t group = lanes.group_of(chunk);
    const __mmask16 present = lanes.mask_of(group);
    const __mmask64 bytes_present = mask_of_bytes(bytes - at);
    for (int w = 0; w < kWeights; ++w) {
      const uint8_t* from = weights + w * bytes + at;
      _mm_prefetch(reinterpret_cast<const char*>(from + kAhead), _MM_HINT_T0);
      __m512i packed = _mm512_maskz_loadu_epi8(bytes_present, from);
      const __m512i zero =
          zeros == nullptr ? offset : lanes.lanes_of(zeros + w * groups + group, present);
      __m512i products[kRows + 1];
      for (__m512i& each : products) each = _mm512_setzero_si512();
      for (int i = 0; i < kPerByte; ++i) {
        __m512i integers = packed;
        if (kBits < 8) {
          integers = _mm512_sub_epi8(_mm512_and_si512(packed, mask), zero);
          packed = _mm512_srli_epi16(packed, kBits);
        }
        for (int r = 0; r <= kRows; ++r) {
          const uint8_t* input = r < kRows ? x + r * stride : ones;
          const __m512i bytes_of_input = _mm512_loadu_si512(input + at * kPerByte + i * kChunk);
          products[r] = _mm512_dpbusd_epi32(products[r], bytes_of_input, integers);
        }
      }
      const __m512 scale =
          _mm512_castsi512_ps(lanes.lanes_of(scales + w * groups + group, present));
      for (int r = 0; r <= kRows; ++r) {
        sums[w][r] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(products[r]), scale, sums[w][r]);
      }
    }
  }
}

// The part of the result for kRows rows of input and the weights of the tile, kWeights at a time.
template <int kBits, int kRows, int kWeights>
TAPER_VNNI int64_t multiply_columns(const Tile& tile, int64_t row, int64_t n) {
  const PackedLinear& layer = tile.layer;
  const LaneGroups lanes(layer.matrix);
  const float* bias = layer.bias == nullptr ? nullptr : layer.bias->const_data_ptr<float>();
  float* out = layer.out.mutable_data_ptr<float>() + row * layer.matrix.rows;
  float shifts[kRows], scales[kRows];
  for (int r = 0; r < kRows; ++r) {
    shifts[r] = static_cast<float>(kShift + layer.input_zero_point(row + r));
    scales[r] = layer.input_scale(row + r);
  }
  for (; n + kWeights <= tile.first + tile.count; n += kWeights) {
    __m512 sums[kWeights][kRows + 1];
    sum_rows<kBits, kRows, kWeights>(tile, lanes, row, n, sums);
    for (int w = 0; w < kWeights; ++w) {
      for (int r = 0; r < kRows; ++r) {
        const __m512 sum = _mm512_fnmadd_ps(_mm512_set1_ps(shifts[r]), sums[w][kRows], sums[w][r]);
        out[r * layer.matrix.rows + n + w] =
            _mm512_reduce_add_ps(sum) * scales[r] + (bias == nullptr ? 0 : bias[n + w]);
      }
    }
  }
  return n;
}

template <int kBits, int kRows>
void multiply_rows(const Tile& tile, int64_t row) {
  constexpr int kWeights = kRows == 1 ? 4 : kRows == 2 ? 2 : 1;
  const int64_t n = multiply_columns<kBits, kRows, kWeights>(tile, row, tile.first);
  if (kWeights > 1) multiply_columns<kBits, kRows, 1>(tile, row, n);
}

template <int kBits>
void multiply_tile(const Tile& tile) {
  const int64_t rows = tile.layer.rows();
  int64_t row = 0;
  for (; row + 8 <= rows; row += 8) multiply_rows<kBits, 8>(tile, row);
  for (; row + 4 <= rows; row += 4) multiply_rows<kBits, 4>(tile, row);
  for (; row + 2 <= rows; row += 2) multiply_rows<kBits, 2>(tile, row);
  if (row < rows) multiply_rows<kBits, 1>(tile, row);
}

#endif

// The bytes of a row of `columns` elements, element i being of(i), in the order of the weights.
template <typename Of>
void arrange(const PackedMatrix& matrix, const Of& of, uint8_t* to) {
  const int64_t per_byte = 8 / matrix.bits;
  std::memset(to, 0, static_cast<size_t>(arranged_row(matrix)));
  for (int64_t first = 0; first < matrix.columns; first += kChunk * per_byte) {
    for (int64_t part = 0; part < per_byte; ++part, to += kChunk) {
      const int64_t left = matrix.columns - first - part;
      const int64_t count = std::min(kChunk, (left + per_byte - 1) / per_byte);
      for (int64_t i = 0; i < count; ++i) to[i] = of(first + i * per_byte + part);
    }
  }
}

}  // namespace

bool takes_byte_products(const PackedLinear& layer) {
  return has_vnni() && layer.input_scales != nullptr && has_whole_groups(layer.matrix) &&
         are_bytes(layer.matrix);
}

int64_t byte_rows_size(const PackedLinear& layer) {
  return (layer.rows() + 1) * arranged_row(layer.matrix);
}

int64_t byte_thread_size(const PackedLinear& layer) {
  return kTileRows * layer.matrix.groups() * static_cast<int64_t>(2 * sizeof(float));
}

void arrange_byte_rows(const PackedLinear& layer, uint8_t* to) {
  const PackedMatrix& matrix = layer.matrix;
  const int64_t stride = arranged_row(matrix);
  for (int64_t row = 0; row < layer.rows(); ++row, to += stride) {
    const int8_t* from = layer.input.const_data_ptr<int8_t>() + row * matrix.columns;
    arrange(
        matrix, [&](int64_t i) { return static_cast<uint8_t>(from[i] + kShift); }, to);
  }
  arrange(
      matrix, [](int64_t) { return uint8_t{1}; }, to);
}

void multiply_byte_rows(const PackedLinear& layer, const uint8_t* arranged, int64_t begin,
                        int64_t end, void* scratch) {
#if defined(__x86_64__)
  const PackedMatrix& matrix = layer.matrix;
  const int64_t groups = matrix.groups(), most = kTileRows * groups;
  auto* scales = static_cast<float*>(scratch);
  float* zeros = scales + most;
  auto* bytes = reinterpret_cast<int32_t*>(zeros);
  const bool has_points = matrix.zero_points != nullptr;
  const bool are_floats = matrix.scales->scalar_type() == ScalarType::kFloat;
  for (int64_t first = begin; first < end; first += kTileRows) {
    const int64_t count = std::min(kTileRows, end - first);
    Tile tile = {layer, arranged, first, count, scales, nullptr};
    if (has_points) {
      matrix.read_scales(first, count, scales, zeros);
      for (int64_t i = 0; i < count * groups; ++i) {
        const int32_t lane = in_lane(zeros[i]);
        std::memcpy(&bytes[i], &lane, sizeof(lane));
      }
      tile.zeros = bytes;
    } else if (are_floats) {
      tile.scales = matrix.scales->const_data_ptr<float>() + first * groups;
    } else {
      matrix.read_scales(first, count, scales);
    }
    if (matrix.bits == 2) multiply_tile<2>(tile);
    if (matrix.bits == 4) multiply_tile<4>(tile);
    if (matrix.bits == 8) multiply_tile<8>(tile);
  }
#else
  static_cast<void>(layer), static_cast<void>(arranged), static_cast<void>(begin);
  static_cast<void>(end), static_cast<void>(scratch);
#endif
}

}  // namespace taper::optimized
