// Products of bfloat16 by AVX-512 BF16 and by the matrix unit (AMX).
//
// The unit has eight tiles of 16 rows of 64 bytes. Four hold sums, 32 rows by 32 columns; two hold
// 32 terms of the rows, two hold 32 terms of the columns. So four products take four loads.

#include "kernels_optimized/cores/bfloat/native_products.h"

#include <algorithm>
#include <utility>

#include "kernels_optimized/engine/dispatch.h"
#include "kernels_optimized/engine/max_isa.h"
#include "kernels_optimized/engine/x86_intrinsics.h"

#if defined(__x86_64__)

#include <cpuid.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#define TAPER_PAIRS __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")))
#define TAPER_TILES \
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,amx-tile,amx-bf16")))

namespace taper::optimized {
namespace {

constexpr int64_t kLanes = 16;
// A third of a panel of rows: twice as many sums fit in 32 registers beside two for weights, and
// enough of them are computed at a time to hide how long each takes.
constexpr int kPairRows = 11;
// Of fewer rows the matrix unit is mostly idle, and its sums take longer to store.
constexpr int64_t kLeastTileRows = 4;
// The terms of a slab of weights, the panels of rows for which it stays in the cache, and the lines
// of 32 terms of a panel.
constexpr int64_t kSlabTerms = 256;
constexpr int64_t kPasses = 8;
constexpr int64_t kLinesOfTerms = kBfloatTerms * kBfloatColumns * 2 / 64;

struct Features {
  bool pairs = false, tiles = false;
};

// A process has the matrix unit once it has asked for it, if the system agrees.
bool get_matrix_unit() {
#if defined(__linux__)
  constexpr int kRequest = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
#else
  return false;
#endif
}

Features find_features() {
  if (level() < Level::kAvx512 || !may_use(Isa::kAll)) return {};
  unsigned a, b, c, d;
  Features found;
  if (__get_cpuid_count(7, 1, &a, &b, &c, &d) == 0) return {};
  found.pairs = (a >> 5 & 1) != 0;
  __get_cpuid_count(7, 0, &a, &b, &c, &d);
  constexpr unsigned kUnit = 1U << 22 | 1U << 24;  // Of bfloat16, and of tiles at all.
  found.tiles = found.pairs && (d & kUnit) == kUnit && get_matrix_unit();
  return found;
}

const Features& features() {
  static const Features found = find_features();
  return found;
}

// Biases and bounds of half a panel.
struct Ends {
  __m512 bias, min, max;
  __mmask16 wanted;
};

TAPER_PAIRS inline Ends ends_of(const BfloatProduct& p, int64_t column) {
  const int64_t count = std::clamp(p.columns - column, int64_t{0}, kLanes);
  Ends ends;
  ends.wanted = static_cast<__mmask16>((1U << count) - 1);
  ends.bias =
      p.bias != nullptr ? _mm512_maskz_loadu_ps(ends.wanted, p.bias + column) : _mm512_setzero_ps();
  ends.min = _mm512_set1_ps(p.min);
  ends.max = _mm512_set1_ps(p.max);
  return ends;
}

// The second operand is the result if one of them is NaN.
TAPER_PAIRS inline void store(float* to, __m512 sum, const Ends& ends) {
  const __m512 value = _mm512_max_ps(ends.min, _mm512_add_ps(sum, ends.bias));
  _mm512_mask_storeu_ps(to, ends.wanted, _mm512_min_ps(ends.max, value));
}

TAPER_PAIRS inline __m512bh pair_of(const uint16_t* terms) {
  uint32_t both;
  __builtin_memcpy(&both, terms, sizeof(both));
  return (__m512bh)_mm512_set1_epi32(static_cast<int>(both));
}

// A share of the next panel of weights, which is fetched meanwhile: an address for every two terms,
// often in a line that is on its way, which costs nothing.
struct Ahead {
  const char* next;
  int64_t step;
};

// A few rows of a panel. REQUIRES: they are in the same panel of rows.
template <int kRows>
TAPER_PAIRS void multiply_rows(const BfloatProduct& p, int64_t row, int64_t panel, Ahead ahead) {
  const uint16_t* weights = p.weights + panel * kBfloatColumns * p.terms;
  const uint16_t* rows = p.rows + bfloat_row_place(row, p.terms);
  __m512 left[kRows], right[kRows];
#pragma GCC unroll 11
  for (int i = 0; i < kRows; ++i) left[i] = right[i] = _mm512_setzero_ps();
  for (int64_t piece = 0; piece < p.terms; piece += kBfloatTerms, rows += kBfloatPiece) {
    for (int64_t k = 0; k < kBfloatTerms; k += 2, weights += 2 * kBfloatColumns) {
      __builtin_prefetch(ahead.next, 0, 2);
      ahead.next += ahead.step;
      const __m512bh left_weights = (__m512bh)_mm512_loadu_si512(weights);
      const __m512bh right_weights = (__m512bh)_mm512_loadu_si512(weights + 2 * kLanes);
#pragma GCC unroll 11
      for (int i = 0; i < kRows; ++i) {
        const __m512bh factors = pair_of(rows + i * kBfloatTerms + k);
        left[i] = _mm512_dpbf16_ps(left[i], factors, left_weights);
        right[i] = _mm512_dpbf16_ps(right[i], factors, right_weights);
      }
    }
  }
  const int64_t column = panel * kBfloatColumns;
  const Ends left_ends = ends_of(p, column), right_ends = ends_of(p, column + kLanes);
#pragma GCC unroll 11
  for (int i = 0; i < kRows; ++i) {
    float* to = p.out + (row + i) * p.out_step + column;
    store(to, left[i], left_ends);
    store(to + kLanes, right[i], right_ends);
  }
}

using MultiplyRows = void (*)(const BfloatProduct& p, int64_t row, int64_t panel, Ahead ahead);

template <int... kRows>
MultiplyRows for_rows(int64_t rows, std::integer_sequence<int, kRows...>) {
  static constexpr MultiplyRows kForms[] = {multiply_rows<kRows + 1>...};
  return kForms[rows - 1];
}

// Divides each panel of rows into as few parts as possible, of about equal sizes.
void multiply_panel(const BfloatProduct& p, int64_t panel) {
  const auto parts_of = [](int64_t rows) { return (rows + kPairRows - 1) / kPairRows; };
  const int64_t whole = p.row_count / kBfloatRows, rest = p.row_count % kBfloatRows;
  const int64_t all = std::max(int64_t{1}, whole * parts_of(kBfloatRows) + parts_of(rest));
  const int64_t bytes = kBfloatColumns * p.terms * static_cast<int64_t>(sizeof(*p.weights));
  const char* next = reinterpret_cast<const char*>(p.weights) + (panel + 1) * bytes;
  const int64_t step = all == 1 ? 0 : (2 * kBfloatColumns * 2 + all - 1) / all;
  for (int64_t first = 0; first < p.row_count; first += kBfloatRows) {
    const int64_t count = std::min(kBfloatRows, p.row_count - first);
    const int64_t parts = parts_of(count);
    for (int64_t part = 0; part < parts; ++part, next += bytes / all) {
      const int64_t begin = count * part / parts, end = count * (part + 1) / parts;
      for_rows(end - begin, std::make_integer_sequence<int, kPairRows>())(p, first + begin, panel,
                                                                          {next, step});
    }
  }
}

// Tiles 0 to 3 are sums, 4 and 5 terms of the upper and lower rows, 6 and 7 those of the left and
// right columns. All are whole: rows behind the last are computed, but not stored.
TAPER_TILES void configure() {
  struct alignas(64) Layout {
    uint8_t palette = 1;
    uint8_t start_row = 0;
    uint8_t reserved[14] = {};
    uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    uint8_t rows[16] = {kLanes, kLanes, kLanes, kLanes, kLanes, kLanes, kLanes, kLanes};
  } layout;
  _tile_loadconfig(&layout);
}

using Sums = float[kBfloatRows][kBfloatColumns];

// A slab: some terms of a panel of weights, which stay in the first-level cache for all rows.
struct Slab {
  const uint16_t* weights;
  int64_t terms;
  bool is_first;
  int64_t ahead;  // How many lines of the next slab are announced with each 32 terms.
};

// Adds the products of a slab to the sums of a panel of rows, of which `rows` is the slab's part.
template <bool kLower>
TAPER_TILES void add_slab(const Slab& slab, const uint16_t* rows, Sums& sums) {
  constexpr size_t kSumBytes = sizeof(sums[0]), kRowBytes = kBfloatTerms * sizeof(uint16_t);
  constexpr size_t kWeightBytes = 2 * kBfloatColumns * sizeof(uint16_t);
  if (slab.is_first) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  } else {
    _tile_loadd(0, sums[0], kSumBytes);
    _tile_loadd(1, sums[0] + kLanes, kSumBytes);
    if (kLower) _tile_loadd(2, sums[kLanes], kSumBytes);
    if (kLower) _tile_loadd(3, sums[kLanes] + kLanes, kSumBytes);
  }
  const uint16_t* weights = slab.weights;
  const char* next = reinterpret_cast<const char*>(weights + slab.terms * kBfloatColumns);
  for (int64_t k = 0; k < slab.terms; k += kBfloatTerms) {
    for (int64_t line = 0; line < slab.ahead; ++line, next += 64) __builtin_prefetch(next, 0, 2);
    _tile_loadd(4, rows, kRowBytes);
    _tile_loadd(6, weights, kWeightBytes);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(7, weights + 2 * kLanes, kWeightBytes);
    _tile_dpbf16ps(1, 4, 7);
    if (kLower) {
      _tile_loadd(5, rows + kLanes * kBfloatTerms, kRowBytes);
      _tile_dpbf16ps(2, 5, 6);
      _tile_dpbf16ps(3, 5, 7);
    }
    rows += kBfloatPiece;
    weights += kBfloatTerms * kBfloatColumns;
  }
  _tile_stored(0, sums[0], kSumBytes);
  _tile_stored(1, sums[0] + kLanes, kSumBytes);
  if (kLower) _tile_stored(2, sums[kLanes], kSumBytes);
  if (kLower) _tile_stored(3, sums[kLanes] + kLanes, kSumBytes);
}

TAPER_PAIRS void store_sums(const BfloatProduct& p, int64_t row, int64_t rows, int64_t panel,
                            const Sums& sums) {
  const int64_t column = panel * kBfloatColumns;
  const Ends left = ends_of(p, column), right = ends_of(p, column + kLanes);
  for (int64_t i = 0; i < rows; ++i) {
    float* to = p.out + (row + i) * p.out_step + column;
    store(to, _mm512_load_ps(sums[i]), left);
    store(to + kLanes, _mm512_load_ps(sums[i] + kLanes), right);
  }
}

// Up to kPasses panels of rows, of which `row` is the first.
TAPER_TILES void multiply_columns(const BfloatProduct& p, int64_t row, int64_t panel) {
  alignas(64) Sums sums[kPasses];
  const int64_t count = std::min(p.row_count - row, kPasses * kBfloatRows);
  const int64_t passes = whole_rows(count) / kBfloatRows;
  const auto rows_of = [&](int64_t pass) {
    return std::min(kBfloatRows, count - pass * kBfloatRows);
  };
  const uint16_t* const rows = p.rows + bfloat_row_place(row, p.terms);
  const uint16_t* const weights = p.weights + panel * kBfloatColumns * p.terms;
  for (int64_t k = 0; k < p.terms; k += kSlabTerms) {
    const Slab slab = {weights + k * kBfloatColumns, std::min(kSlabTerms, p.terms - k), k == 0,
                       (kLinesOfTerms + passes - 1) / passes};
    for (int64_t pass = 0; pass < passes; ++pass) {
      const uint16_t* part = rows + (pass * p.terms + k) * kBfloatRows;
      rows_of(pass) > kLanes ? add_slab<true>(slab, part, sums[pass])
                             : add_slab<false>(slab, part, sums[pass]);
    }
  }
  for (int64_t pass = 0; pass < passes; ++pass) {
    store_sums(p, row + pass * kBfloatRows, rows_of(pass), panel, sums[pass]);
  }
}

}  // namespace

bool has_bfloat_pairs() { return features().pairs; }
bool has_bfloat_tiles() { return features().tiles; }

void multiply_pairs(const BfloatProduct& product, int64_t begin, int64_t end) {
  for (int64_t panel = begin; panel < end; ++panel) multiply_panel(product, panel);
}

TAPER_TILES void multiply_tiles(const BfloatProduct& product, int64_t begin, int64_t end) {
  if (product.row_count < kLeastTileRows) return multiply_pairs(product, begin, end);
  configure();
  for (int64_t row = 0; row < product.row_count; row += kPasses * kBfloatRows) {
    for (int64_t panel = begin; panel < end; ++panel) multiply_columns(product, row, panel);
  }
  _tile_release();
}

}  // namespace taper::optimized

#endif
