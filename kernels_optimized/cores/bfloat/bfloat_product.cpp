// Packs, and computes in float32 what other processors compute in bfloat16; see bfloat_product.h.

#include "kernels_optimized/cores/bfloat/bfloat_product.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/cores/bfloat/bfloat_product.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels_optimized/engine/bfloat_vectors.h"
#include "kernels_optimized/engine/vectors.h"

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {

constexpr uint32_t kUpperHalf = 0xffff0000;

// Rounds pieces of 32 numbers, which are written `step` apart.
void round_form(const float* from, int64_t pieces, int64_t step, uint16_t* to) {
  for (int64_t piece = 0; piece < pieces; ++piece, from += kBfloatTerms, to += step) {
    for (int64_t i = 0; i < kBfloatTerms; i += kLanes) {
      store_bfloat(hn::LoadU(kTag, from + i), to + i);
    }
  }
}

// Up to kRows rows of a panel, a vector of its columns at a time.
template <int64_t kRows>
void multiply_rows(const BfloatProduct& p, int64_t row, int64_t panel, float* sums) {
  const hn::RebindToUnsigned<Tag> bits;
  const uint16_t* const rows = p.rows + bfloat_row_place(row, p.terms);
  const auto* const weights =
      reinterpret_cast<const uint32_t*>(p.weights + panel * kBfloatColumns * p.terms);
  const auto widened = [&](uint16_t half) {
    return hn::BitCast(kTag, hn::Set(bits, static_cast<uint32_t>(half) << 16));
  };
  for (int64_t c = 0; c < kBfloatColumns; c += kLanes) {
    Vec sum[kRows];
    for (Vec& each : sum) each = hn::Zero(kTag);
    for (int64_t k = 0; k < p.terms; k += 2) {
      const auto pair = hn::LoadU(bits, weights + k / 2 * kBfloatColumns + c);
      const auto first = hn::BitCast(kTag, hn::ShiftLeft<16>(pair));
      const auto second = hn::BitCast(kTag, hn::And(pair, hn::Set(bits, kUpperHalf)));
      for (int64_t i = 0; i < kRows; ++i) {
        const uint16_t* factors =
            rows + k / kBfloatTerms * kBfloatPiece + i * kBfloatTerms + k % kBfloatTerms;
        sum[i] = hn::MulAdd(widened(factors[0]), first, sum[i]);
        sum[i] = hn::MulAdd(widened(factors[1]), second, sum[i]);
      }
    }
    for (int64_t i = 0; i < kRows; ++i) hn::StoreU(sum[i], kTag, sums + i * kBfloatColumns + c);
  }
}

void multiply_form(const BfloatProduct& p, int64_t row, int64_t rows, int64_t panel, float* sums) {
  rows == 4 ? multiply_rows<4>(p, row, panel, sums) : multiply_rows<1>(p, row, panel, sums);
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE

#include <algorithm>
#include <cstring>

#include "kernels_optimized/cores/bfloat/native_products.h"
#include "kernels_portable/engine/half.h"

namespace taper::optimized {
namespace {

using Round = void (*)(const float* from, int64_t pieces, int64_t step, uint16_t* to);
using Multiply = void (*)(const BfloatProduct& p, int64_t row, int64_t rows, int64_t panel,
                          float* sums);

uint16_t rounded(float value) { return portable::float_to_bfloat16(value).bits; }

// Rounds the numbers that fill pieces of 32, which are written `step` apart, and returns how many.
int64_t round_pieces(const float* from, int64_t count, int64_t step, uint16_t* to) {
  const Round form = TAPER_CHOOSE(Round, round_form);
  if (form == nullptr) return 0;
  form(from, count / kBfloatTerms, step, to);
  return count / kBfloatTerms * kBfloatTerms;
}

// Adds biases to the sums of a few rows, and limits them. NaN stays NaN.
void store(const BfloatProduct& p, int64_t row, int64_t rows, int64_t panel, const float* sums) {
  const int64_t first = panel * kBfloatColumns;
  const int64_t count = std::min(kBfloatColumns, p.columns - first);
  for (int64_t i = 0; i < rows; ++i) {
    float* to = p.out + (row + i) * p.out_step + first;
    for (int64_t c = 0; c < count; ++c) {
      const float sum = sums[i * kBfloatColumns + c] + (p.bias != nullptr ? p.bias[first + c] : 0);
      to[c] = sum < p.min ? p.min : sum > p.max ? p.max : sum;
    }
  }
}

void multiply_floats(const BfloatProduct& p, int64_t begin, int64_t end) {
  const Multiply multiply = TAPER_CHOOSE(Multiply, multiply_form);
  if (multiply == nullptr) return;
  float sums[4 * kBfloatColumns];
  for (int64_t panel = begin; panel < end; ++panel) {
    for (int64_t row = 0; row < p.row_count;) {
      const int64_t rows = p.row_count - row >= 4 ? 4 : 1;
      multiply(p, row, rows, panel, sums);
      store(p, row, rows, panel, sums);
      row += rows;
    }
  }
}

}  // namespace

BfloatForm best_bfloat_form() {
  if (has_bfloat_tiles()) return BfloatForm::kTiles;
  return has_bfloat_pairs() ? BfloatForm::kPairs : BfloatForm::kFloats;
}

void round_to_bfloat(const float* from, int64_t count, uint16_t* to) {
  const int64_t whole = round_pieces(from, count, kBfloatTerms, to);
  std::transform(from + whole, from + count, to + whole, rounded);
}

void place_bfloat_row(const float* row, int64_t terms, uint16_t* to) {
  const int64_t whole = round_pieces(row, terms, kBfloatPiece, to);
  if (whole == terms) return;
  uint16_t* const last = to + whole / kBfloatTerms * kBfloatPiece;
  std::transform(row + whole, row + terms, last, rounded);
  std::fill(last + terms - whole, last + kBfloatTerms, uint16_t{0});
}

void place_bfloat_row(const uint16_t* row, int64_t terms, uint16_t* to) {
  int64_t i = 0;
  for (; i + kBfloatTerms <= terms; i += kBfloatTerms, to += kBfloatPiece) {
    std::memcpy(to, row + i, kBfloatTerms * sizeof(*to));  // Without a call.
  }
  if (i == terms) return;
  std::copy(row + i, row + terms, to);
  std::fill(to + terms - i, to + kBfloatTerms, uint16_t{0});
}

void pack_bfloat(const BfloatSource& weights, uint16_t* to) {
  const BfloatSource& w = weights;
  const int64_t terms = whole_terms(w.terms);
  for (int64_t panel = 0; panel < bfloat_panels(w.columns); ++panel) {
    const int64_t first = panel * kBfloatColumns;
    const int64_t count = std::min(kBfloatColumns, w.columns - first);
    uint16_t* const out = to + panel * kBfloatColumns * terms;
    std::fill(out, out + kBfloatColumns * terms, uint16_t{0});
    for (int64_t c = 0; c < count; ++c) {
      const float* from = w.data + (first + c) * w.column_step;
      for (int64_t k = 0; k < w.terms; ++k) {
        out[k / 2 * 2 * kBfloatColumns + 2 * c + k % 2] = rounded(from[k * w.term_step]);
      }
    }
  }
}

void multiply_bfloat(const BfloatProduct& product, BfloatForm form, int64_t begin, int64_t end) {
  switch (form) {
    case BfloatForm::kTiles:
      return multiply_tiles(product, begin, end);
    case BfloatForm::kPairs:
      return multiply_pairs(product, begin, end);
    case BfloatForm::kFloats:
      return multiply_floats(product, begin, end);
  }
}

}  // namespace taper::optimized

#endif  // HWY_ONCE
