// The vector code of recurrent.h. Weights are read in memory order, once per step for as many items
// of the batch as have room for their sums in registers.

#include <algorithm>

#include "kernels_optimized/cores/recurrent.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/cores/recurrent_step.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels_optimized/engine/vector_math.h"

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {
namespace {

constexpr int64_t kUnits = portable::kUnitsTogether;
constexpr int64_t kVectors = kUnits / kLanes;  // Vectors per gate of a block.

// How many vectors of sums fit in registers, with a few others.
#if HWY_TARGET == HWY_AVX3
constexpr int kMostSums = 24;
#elif HWY_ARCH_X86
constexpr int kMostSums = 12;
#else
constexpr int kMostSums = 24;
#endif

constexpr int64_t kFirstCacheBytes = int64_t{32} << 10;

// The data of one item of the batch at one step.
struct Item {
  const float* state;
  const float* gates;  // The gates of this direction.
  float* cells;
  float* out;
};

Item item_of(const RecurrentLayer& layer, int64_t gates, int64_t d, int64_t i, int64_t b) {
  const portable::Recurrence& r = layer.r;
  const int64_t now = r.row(r.step_of(d, i), b) * r.directions + d;
  const int64_t before = i == 0 ? 0 : r.row(r.step_of(d, i - 1), b) * r.directions + d;
  Item item;
  item.state = i == 0 ? layer.h0 + (d * r.batch + b) * r.outputs : layer.out + before * r.outputs;
  item.gates = layer.gates + now * gates * r.units;
  item.cells = layer.cells != nullptr ? layer.cells + (d * r.batch + b) * r.units : nullptr;
  item.out = layer.whole != nullptr ? layer.whole + b * r.units : layer.out + now * r.outputs;
  return item;
}

// sigmoid(x) * tanh(y) with one division.
HWY_INLINE Vec squashed_product(Vec x, Vec y) {
  const Vec limit = constant(portable::kTanhLimit);
  const Vec z = at_most(at_least(y, hn::Neg(limit)), limit);
  const Vec square = hn::Mul(z, z);
  const Vec above = hn::Mul(z, polynomial(square, portable::kTanhP));
  const Vec below = polynomial(square, portable::kTanhQ);
  return hn::Div(above, hn::MulAdd(exp_of(hn::Neg(x)), below, below));
}

struct LstmCell {
  static constexpr int kGates = 4;

  static HWY_INLINE void finish(const RecurrentLayer& layer, const Item& item, int64_t,
                                int64_t unit, int64_t count, Vec in, Vec forget, Vec fresh,
                                Vec open) {
    const int64_t units = layer.r.units;
    const float* gates = item.gates + unit;
    forget = sigmoid_of(hn::Add(load_count(gates + units, count), forget));
    const Vec added = squashed_product(hn::Add(load_count(gates, count), in),
                                       hn::Add(load_count(gates + 2 * units, count), fresh));
    const Vec cell = hn::MulAdd(forget, load_count(item.cells + unit, count), added);
    open = hn::Add(load_count(gates + 3 * units, count), open);
    store_count(cell, item.cells + unit, count);
    store_count(squashed_product(open, cell), item.out + unit, count);
  }
  template <int64_t kStep>
  static HWY_INLINE void finish(const RecurrentLayer& layer, const Item& item, int64_t d,
                                int64_t unit, int64_t count, const Vec* sums) {
    finish(layer, item, d, unit, count, sums[0], sums[kStep], sums[2 * kStep], sums[3 * kStep]);
  }
};

struct GruCell {
  static constexpr int kGates = 3;

  template <int64_t kStep>
  static HWY_INLINE void finish(const RecurrentLayer& layer, const Item& item, int64_t d,
                                int64_t unit, int64_t count, const Vec* sums) {
    const int64_t units = layer.r.units;
    const float* gates = item.gates + unit;
    const Vec reset = sigmoid_of(hn::Add(load_count(gates, count), sums[0]));
    const Vec keep = sigmoid_of(hn::Add(load_count(gates + units, count), sums[kStep]));
    Vec fresh = sums[2 * kStep];
    if (layer.bias != nullptr)
      fresh = hn::Add(fresh, load_count(layer.bias + d * units + unit, count));
    fresh = tanh_of(hn::MulAdd(reset, fresh, load_count(gates + 2 * units, count)));
    const Vec before = load_count(item.state + unit, count);
    store_count(hn::MulAdd(keep, hn::Sub(before, fresh), fresh), item.out + unit, count);
  }
};

// The products of states with blocks of weights. Not inlined: constants of what follows would take
// the registers of sums.
template <int kItems, int kBlocks, int kSums>
HWY_NOINLINE void multiply(const float* const (&states)[kItems],
                           const float* const (&blocks)[kBlocks], int64_t depth,
                           Vec (&out)[kItems][kBlocks][kSums]) {
  constexpr int64_t kWidth = kSums * kLanes;
  Vec sums[kItems][kBlocks][kSums];
  TAPER_UNROLL
  for (int m = 0; m < kItems; ++m) {
    TAPER_UNROLL
    for (int n = 0; n < kBlocks; ++n) {
      TAPER_UNROLL
      for (int v = 0; v < kSums; ++v) sums[m][n][v] = hn::Zero(kTag);
    }
  }
  for (int64_t k = 0; k < depth; ++k) {
    Vec factors[kItems];
    TAPER_UNROLL
    for (int m = 0; m < kItems; ++m) factors[m] = hn::Set(kTag, states[m][k]);
    TAPER_UNROLL
    for (int n = 0; n < kBlocks; ++n) {
      TAPER_UNROLL
      for (int v = 0; v < kSums; ++v) {
        const Vec weight = hn::LoadU(kTag, blocks[n] + k * kWidth + v * kLanes);
        TAPER_UNROLL
        for (int m = 0; m < kItems; ++m) {
          sums[m][n][v] = hn::MulAdd(factors[m], weight, sums[m][n][v]);
        }
      }
    }
  }
  TAPER_UNROLL
  for (int m = 0; m < kItems; ++m) {
    TAPER_UNROLL
    for (int n = 0; n < kBlocks; ++n) {
      TAPER_UNROLL
      for (int v = 0; v < kSums; ++v) out[m][n][v] = sums[m][n][v];
    }
  }
}

// Computes kBlocks blocks from `block` on, for kItems items.
template <typename Cell, int kItems, int kBlocks>
HWY_INLINE void run_tile(const RecurrentLayer& layer, const Item* items, int64_t d, int64_t block) {
  constexpr int kSums = Cell::kGates * static_cast<int>(kVectors);
  const portable::Recurrence& r = layer.r;
  const float* weights[kBlocks];
  const float* states[kItems];
  for (int n = 0; n < kBlocks; ++n) {
    weights[n] = layer.weight + (d * r.blocks() + block + n) * r.outputs * Cell::kGates * kUnits;
  }
  for (int m = 0; m < kItems; ++m) states[m] = items[m].state;
  Vec sums[kItems][kBlocks][kSums];
  multiply(states, weights, r.outputs, sums);
  TAPER_UNROLL
  for (int m = 0; m < kItems; ++m) {
    TAPER_UNROLL
    for (int n = 0; n < kBlocks; ++n) {
      TAPER_UNROLL
      for (int64_t v = 0; v < kVectors; ++v) {
        const int64_t unit = (block + n) * kUnits + v * kLanes;
        const int64_t count = std::min(kLanes, r.units - unit);
        if (count <= 0) continue;
        Cell::template finish<kVectors>(layer, items[m], d, unit, count, &sums[m][n][v]);
      }
    }
  }
}

template <typename Cell>
constexpr int most_items() {
  return std::max(1, kMostSums / (Cell::kGates * static_cast<int>(kVectors)));
}

// Computes one block for the items up to `last`, kItems at a time.
template <typename Cell, int kItems>
HWY_INLINE void run_items(const RecurrentLayer& layer, int64_t i, int64_t d, int64_t block,
                          int64_t last, int64_t* b) {
  for (; *b + kItems <= last; *b += kItems) {
    Item items[kItems];
    for (int m = 0; m < kItems; ++m) items[m] = item_of(layer, Cell::kGates, d, i, *b + m);
    run_tile<Cell, kItems, 1>(layer, items, d, block);
  }
}

template <typename Cell, int kBlocks>
HWY_INLINE void run_blocks(const RecurrentLayer& layer, const Item& item, int64_t d, int64_t end,
                           int64_t* block) {
  for (; *block + kBlocks <= end; *block += kBlocks) {
    run_tile<Cell, 1, kBlocks>(layer, &item, d, *block);
  }
}

template <typename Cell>
void run_step(const RecurrentLayer& layer, int64_t i, const RecurrentPart& part) {
  constexpr int kItems = most_items<Cell>();
  const int64_t d = part.direction;
  int64_t block = part.begin;
  if (part.last_item - part.first_item == 1) {
    const Item item = item_of(layer, Cell::kGates, d, i, part.first_item);
    // If the weights fit the L1 cache, two blocks at once are faster, because more sums are in
    // flight; from the L2 cache, reading one block contiguously is.
    if (part.bytes(layer.r) <= kFirstCacheBytes) {
      if constexpr (kItems >= 2) run_blocks<Cell, 2>(layer, item, d, part.end, &block);
    }
    run_blocks<Cell, 1>(layer, item, d, part.end, &block);
    return;
  }
  for (; block < part.end; ++block) {
    int64_t b = part.first_item;
    run_items<Cell, kItems>(layer, i, d, block, part.last_item, &b);
    if constexpr (kItems > 4) run_items<Cell, 4>(layer, i, d, block, part.last_item, &b);
    if constexpr (kItems > 2) run_items<Cell, 2>(layer, i, d, block, part.last_item, &b);
    if constexpr (kItems > 1) run_items<Cell, 1>(layer, i, d, block, part.last_item, &b);
  }
}

// Computes kWide vectors of outputs of one item; `count` is the number of lanes stored of each.
template <int kWide>
HWY_INLINE void project_columns(const float* from, int64_t units, const float* weights,
                                int64_t outputs, int64_t count, float* to) {
  Vec sums[kWide];
  TAPER_UNROLL
  for (int j = 0; j < kWide; ++j) sums[j] = hn::Zero(kTag);
  for (int64_t k = 0; k < units; ++k) {
    const Vec factor = hn::Set(kTag, from[k]);
    TAPER_UNROLL
    for (int j = 0; j < kWide; ++j) {
      const Vec weight = load_count(weights + k * outputs + j * kLanes, count);
      sums[j] = hn::MulAdd(factor, weight, sums[j]);
    }
  }
  TAPER_UNROLL
  for (int j = 0; j < kWide; ++j) store_count(sums[j], to + j * kLanes, count);
}

}  // namespace

void lstm_form(const RecurrentLayer& layer, int64_t i, const RecurrentPart& part) {
  run_step<LstmCell>(layer, i, part);
}
void gru_form(const RecurrentLayer& layer, int64_t i, const RecurrentPart& part) {
  run_step<GruCell>(layer, i, part);
}

void projection_form(const RecurrentLayer& layer, int64_t i, int64_t d, const float* projection) {
  constexpr int64_t kWide = 4 * kLanes;
  const portable::Recurrence& r = layer.r;
  for (int64_t b = 0; b < r.batch; ++b) {
    const float* from = layer.whole + b * r.units;
    const float* weights = projection + d * r.units * r.outputs;
    float* to = layer.out + (r.row(r.step_of(d, i), b) * r.directions + d) * r.outputs;
    int64_t n = 0;
    for (; n + kWide <= r.outputs; n += kWide) {
      project_columns<4>(from, r.units, weights + n, r.outputs, kLanes, to + n);
    }
    for (; n < r.outputs; n += kLanes) {
      project_columns<1>(from, r.units, weights + n, r.outputs, r.outputs - n, to + n);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE
namespace taper::optimized {

RecurrentStep lstm_step() { return TAPER_CHOOSE(RecurrentStep, lstm_form); }
RecurrentStep gru_step() { return TAPER_CHOOSE(RecurrentStep, gru_form); }
RecurrentProjection lstm_projection() { return TAPER_CHOOSE(RecurrentProjection, projection_form); }

}  // namespace taper::optimized
#endif  // HWY_ONCE
