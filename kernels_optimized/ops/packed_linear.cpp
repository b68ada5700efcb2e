// taper::packed_linear: a few rows of the input are multiplied by each row of weights, whose
// elements become floats in registers. The input is copied once, in the order in which the elements
// of a vector of bytes come out: the first of every byte, then the second, and so on; behind each
// group is the sum of its vectors, for what the zero point takes away from all of its elements.

#include <algorithm>
#include <atomic>

#include "kernels_optimized/cores/bytes/byte_products.h"
#include "kernels_optimized/engine/overlay.h"
#include "kernels_optimized/engine/parallel.h"
#include "kernels_portable/cores/quantized/packed_matrix.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/ops/packed_linear.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels_optimized/engine/vectors.h"

// Shared by all compiled forms: this file is compiled once per instruction set.
#ifndef TAPER_PACKED_LAYER
#define TAPER_PACKED_LAYER
namespace taper::optimized {
namespace {

struct PackedLayer {
  const portable::PackedLinear* call;
  const uint8_t* weight;
  const float* bias;  // Null if there is none.
  float* out;         // [rows, n]
  int64_t rows, n, k, groups;
  int64_t row_bytes, group_bytes, group_length;
  int64_t bits;
  bool is_signed;
};

// Weights that stay in the cache while all rows of the input are multiplied by them.
constexpr int64_t kTileWeights = 16;

}  // namespace
}  // namespace taper::optimized
#endif

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {
namespace {

constexpr int64_t kMostRows = HWY_LANES(float) >= 16 ? 8 : 4;
constexpr int64_t kFewRows = 2;

using IntTag = hn::RebindToSigned<Tag>;
using IntVec = hn::Vec<IntTag>;
constexpr IntTag kIntTag = {};

// How many floats of input belong to a group: vectors for each kLanes bytes of weights, and the sum
// of these vectors.
int64_t arranged_group(const PackedLayer& layer) {
  return (layer.group_bytes + kLanes - 1) / kLanes * kLanes * (8 / layer.bits) + kLanes;
}

// Copies a row of the input, in the order of the weights and padded with zeros.
template <int kPerByte>
void arrange(const PackedLayer& layer, int64_t row, float* to) {
  constexpr int64_t kChunk = kLanes * kPerByte;
  float chunk[kChunk];
  for (int64_t group = 0; group < layer.groups; ++group, to += kLanes) {
    float sums[kLanes] = {};
    for (int64_t first = 0; first < layer.group_length; first += kChunk, to += kChunk) {
      const int64_t count = std::min(kChunk, layer.group_length - first);
      layer.call->read_input(row, group * layer.group_length + first, count, chunk);
      std::fill(chunk + count, chunk + kChunk, 0.0f);
      for (int64_t i = 0; i < kChunk; ++i) {
        to[i % kPerByte * kLanes + i / kPerByte] = chunk[i];
        sums[i / kPerByte] += chunk[i];
      }
    }
    std::copy(sums, sums + kLanes, to);
  }
}

// kLanes bytes as integers of 32 bits; the bytes after the first `count` count as 0.
template <bool kSigned>
HWY_INLINE IntVec load_bytes(const uint8_t* from, int64_t count) {
  HWY_ALIGN uint8_t buffer[kLanes];
  if (HWY_UNLIKELY(count < kLanes)) {
    std::memset(buffer, 0, sizeof(buffer));
    std::memcpy(buffer, from, static_cast<size_t>(count));
    from = buffer;
  }
  using Byte = std::conditional_t<kSigned, int8_t, uint8_t>;
  const hn::Rebind<Byte, IntTag> bytes;
  return hn::PromoteTo(kIntTag, hn::LoadU(bytes, reinterpret_cast<const Byte*>(from)));
}

// Calls each(i, w, integers) for the vectors of input of a group: the i-th of them meets the
// integers of row w of the weights.
template <int kBits, bool kSigned, int kWeights, typename Each>
HWY_INLINE void for_integers(const PackedLayer& layer, const uint8_t* weights, const Each& each) {
  constexpr int kPerByte = 8 / kBits;
  const IntVec mask = hn::Set(kIntTag, (1 << kBits) - 1);
  int64_t vector = 0;
  for (int64_t byte = 0; byte < layer.group_bytes; byte += kLanes, vector += kPerByte) {
    IntVec packed[kWeights];
    for (int w = 0; w < kWeights; ++w) {
      packed[w] =
          load_bytes<kSigned>(weights + w * layer.row_bytes + byte, layer.group_bytes - byte);
    }
    TAPER_UNROLL
    for (int i = 0; i < kPerByte; ++i) {
      const bool is_last = i + 1 == kPerByte;  // Nothing is above it, or its sign.
      TAPER_UNROLL
      for (int w = 0; w < kWeights; ++w) {
        each(vector + i, w, is_last ? packed[w] : hn::And(packed[w], mask));
        if (!is_last) packed[w] = hn::ShiftRight<kBits % 8>(packed[w]);
      }
    }
  }
}

// The sums of kRows rows of input times kWeights rows of weights. With few rows a group is summed
// with the integers as they are, beginning with what the zero point takes away, and scaled as a
// whole; with many it is less work to scale each vector of weights.
template <int kBits, bool kSigned, int kRows, int kWeights>
HWY_INLINE void multiply_tile(const PackedLayer& layer, const float* const* x,
                              const uint8_t* weights, const float* scales, const float* zeros,
                              Vec (&sums)[kWeights][kRows]) {
  const int64_t group_floats = arranged_group(layer);
  int64_t at = 0;
  for (int64_t group = 0; group < layer.groups; ++group, at += group_floats) {
    Vec scale[kWeights], zero[kWeights], part[kWeights][kRows];
    for (int w = 0; w < kWeights; ++w) {
      scale[w] = hn::Set(kTag, scales[w * layer.groups + group]);
      zero[w] = hn::Set(kTag, zeros[w * layer.groups + group]);
      for (int r = 0; r < kRows && kRows <= kFewRows; ++r) {
        const Vec sum = hn::LoadU(kTag, x[r] + at + group_floats - kLanes);
        part[w][r] = hn::Neg(hn::Mul(zero[w], sum));
      }
    }
    const auto multiply = [&](int64_t i, int w, IntVec integers) HWY_ATTR {
      Vec weight = hn::ConvertTo(kTag, integers);
      if constexpr (kRows > kFewRows) weight = hn::Mul(hn::Sub(weight, zero[w]), scale[w]);
      TAPER_UNROLL
      for (int r = 0; r < kRows; ++r) {
        Vec& sum = kRows > kFewRows ? sums[w][r] : part[w][r];
        sum = hn::MulAdd(weight, hn::LoadU(kTag, x[r] + at + i * kLanes), sum);
      }
    };
    for_integers<kBits, kSigned, kWeights>(layer, weights + group * layer.group_bytes, multiply);
    if constexpr (kRows > kFewRows) continue;
    for (int w = 0; w < kWeights; ++w) {
      for (int r = 0; r < kRows; ++r) sums[w][r] = hn::MulAdd(scale[w], part[w][r], sums[w][r]);
    }
  }
}

// Multiplies kRows rows of input, arranged at `x`, by `count` rows of weights from `first` on.
template <int kBits, bool kSigned, int kRows>
void multiply_rows(const PackedLayer& layer, const float* x, int64_t x_stride, int64_t row,
                   int64_t first, int64_t count, const float* scales, const float* zeros) {
  constexpr int kWeights = kRows == 1 ? 4 : kRows == 2 ? 2 : 1;
  const float* inputs[kRows];
  for (int r = 0; r < kRows; ++r) inputs[r] = x + (row + r) * x_stride;
  const auto run = [&](auto width, int64_t n) {
    constexpr int kWidth = decltype(width)::value;
    Vec sums[kWidth][kRows];
    for (auto& each : sums) {
      for (Vec& sum : each) sum = hn::Zero(kTag);
    }
    multiply_tile<kBits, kSigned, kRows, kWidth>(layer, inputs, layer.weight + n * layer.row_bytes,
                                                 scales + (n - first) * layer.groups,
                                                 zeros + (n - first) * layer.groups, sums);
    for (int w = 0; w < kWidth; ++w) {
      for (int r = 0; r < kRows; ++r) {
        const float sum = hn::GetLane(hn::SumOfLanes(kTag, sums[w][r]));
        const float bias = layer.bias == nullptr ? 0 : layer.bias[n + w];
        layer.out[(row + r) * layer.n + n + w] = sum + bias;
      }
    }
  };
  int64_t n = first;
  for (; n + kWeights <= first + count; n += kWeights) {
    run(std::integral_constant<int, kWeights>(), n);
  }
  for (; n < first + count; ++n) run(std::integral_constant<int, 1>(), n);
}

template <int kBits, bool kSigned>
void multiply_tile_of_weights(const PackedLayer& layer, const float* x, int64_t x_stride,
                              int64_t first, int64_t count, const float* scales,
                              const float* zeros) {
  int64_t row = 0;
  const auto run = [&](auto rows) {
    constexpr int kRows = decltype(rows)::value;
    for (; row + kRows <= layer.rows; row += kRows) {
      multiply_rows<kBits, kSigned, kRows>(layer, x, x_stride, row, first, count, scales, zeros);
    }
  };
  run(std::integral_constant<int, kMostRows>());
  if (kMostRows > 4) run(std::integral_constant<int, 4>());
  run(std::integral_constant<int, 2>());
  run(std::integral_constant<int, 1>());
}

}  // namespace

// The scratch that multiply_layer() needs for a thread, in floats.
int64_t layer_scratch(const PackedLayer& layer) { return 2 * kTileWeights * layer.groups; }

int64_t arranged_row(const PackedLayer& layer) { return arranged_group(layer) * layer.groups; }

void arrange_rows(const PackedLayer& layer, int64_t begin, int64_t end, float* to) {
  const int64_t stride = arranged_row(layer);
  for (int64_t row = begin; row < end; ++row) {
    if (layer.bits == 2) arrange<4>(layer, row, to + row * stride);
    if (layer.bits == 4) arrange<2>(layer, row, to + row * stride);
    if (layer.bits == 8) arrange<1>(layer, row, to + row * stride);
  }
}

// Computes columns [begin, end) of the result.
void multiply_layer(const PackedLayer& layer, const float* x, int64_t begin, int64_t end,
                    float* scratch) {
  float* zeros = scratch + kTileWeights * layer.groups;
  const int64_t stride = arranged_row(layer);
  for (int64_t first = begin; first < end; first += kTileWeights) {
    const int64_t count = std::min(kTileWeights, end - first);
    layer.call->matrix.read_scales(first, count, scratch, zeros);
    if (layer.bits == 2) {
      multiply_tile_of_weights<2, false>(layer, x, stride, first, count, scratch, zeros);
    } else if (layer.bits == 4) {
      multiply_tile_of_weights<4, false>(layer, x, stride, first, count, scratch, zeros);
    } else if (layer.is_signed) {
      multiply_tile_of_weights<8, true>(layer, x, stride, first, count, scratch, zeros);
    } else {
      multiply_tile_of_weights<8, false>(layer, x, stride, first, count, scratch, zeros);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE
namespace taper::optimized {
namespace {

using Count = int64_t (*)(const PackedLayer&);
using Arrange = void (*)(const PackedLayer&, int64_t, int64_t, float*);
using Multiply = void (*)(const PackedLayer&, const float*, int64_t, int64_t, float*);

PackedLayer layer_of(const portable::PackedLinear& call) {
  const portable::PackedMatrix& matrix = call.matrix;
  PackedLayer layer = {};
  layer.call = &call;
  layer.weight = static_cast<const uint8_t*>(matrix.weight->const_data());
  layer.bias = call.bias == nullptr ? nullptr : call.bias->const_data_ptr<float>();
  layer.out = call.out.mutable_data_ptr<float>();
  layer.n = matrix.rows;
  layer.k = matrix.columns;
  layer.rows = call.rows();
  layer.groups = matrix.groups();
  layer.row_bytes = matrix.row_bytes();
  layer.group_length = matrix.group_length();
  layer.group_bytes = (layer.group_length * matrix.bits + 7) / 8;
  layer.bits = matrix.bits;
  layer.is_signed = matrix.weight->scalar_type() == ScalarType::kChar;
  return layer;
}

// Calls each(begin, end, scratch) for parts of the columns of the result. False if there is too
// little temp memory.
template <typename Each>
bool for_columns(KernelContext& context, const portable::PackedLinear& call, int64_t tile,
                 int64_t work, int64_t floats, const Each& each) {
  std::atomic<bool> done{true};
  const int64_t n = call.matrix.rows;
  for_parts_with_scratch(context, (n + tile - 1) / tile, work * tile * call.matrix.columns, floats,
                         [&](int64_t begin, int64_t end, Span<float> scratch) {
                           if (scratch.size() == 0) {
                             done = false;
                           } else {
                             each(begin * tile, std::min(end * tile, n), scratch.data());
                           }
                         });
  return done;
}

constexpr int64_t floats_in(int64_t bytes) {
  return (bytes + static_cast<int64_t>(sizeof(float)) - 1) / static_cast<int64_t>(sizeof(float));
}

bool multiply_bytes(KernelContext& context, const portable::PackedLinear& call) {
  const Span<float> rows = scratch_floats(context, floats_in(byte_rows_size(call)));
  if (rows.size() == 0) return false;
  auto* x = reinterpret_cast<uint8_t*>(rows.data());
  arrange_byte_rows(call, x);
  constexpr int64_t kProductsPerUnit = 4 * kMultiplicationsPerUnit;
  return for_columns(context, call, kTileWeights, (call.rows() + 2) / kProductsPerUnit + 1,
                     floats_in(byte_thread_size(call)),
                     [&](int64_t begin, int64_t end, float* scratch) {
                       multiply_byte_rows(call, x, begin, end, scratch);
                     });
}

bool multiply_packed(KernelContext& context, portable::PackedLinear call) {
  const Multiply multiply = TAPER_CHOOSE(Multiply, multiply_layer);
  if (multiply == nullptr || !portable::prepare_packed_linear(call).ok()) return false;
  if (takes_byte_products(call)) return call.out.numel() == 0 || multiply_bytes(context, call);
  const PackedLayer layer = layer_of(call);
  if (layer.groups > 1 && layer.group_length * layer.bits % 8 != 0) return false;
  if (layer.rows == 0 || layer.n == 0) return true;
  const Count row_floats = TAPER_CHOOSE(Count, arranged_row);
  const Count scratch_of = TAPER_CHOOSE(Count, layer_scratch);
  const Span<float> x = scratch_floats(context, layer.rows * row_floats(layer));
  if (x.size() == 0) return false;
  const Arrange arrange = TAPER_CHOOSE(Arrange, arrange_rows);
  for_parts(context.pool(), layer.rows, layer.k, 1,
            [&](int64_t begin, int64_t end) { arrange(layer, begin, end, x.data()); });
  return for_columns(context, call, kTileWeights, (layer.rows + 2) / kMultiplicationsPerUnit + 1,
                     scratch_of(layer), [&](int64_t begin, int64_t end, float* scratch) {
                       multiply(layer, x.data(), begin, end, scratch);
                     });
}

bool fast_packed_linear(KernelContext& context, const Tensor& input, const Tensor& weight,
                        const Tensor& scales, const Tensor* zero_points, const Tensor* bias,
                        int64_t bits, Tensor& out) {
  return multiply_packed(context, {input, {&weight, &scales, zero_points, bits, 0, 0}, bias, out});
}

bool fast_packed_linear_rows(KernelContext& context, const Tensor& input,
                             const Tensor& input_scales, const Tensor& input_zero_points,
                             const Tensor& weight, const Tensor& scales, const Tensor* zero_points,
                             const Tensor* bias, int64_t bits, Tensor& out) {
  return multiply_packed(context, {input,
                                   {&weight, &scales, zero_points, bits, 0, 0},
                                   bias,
                                   out,
                                   &input_scales,
                                   &input_zero_points});
}

}  // namespace

extern const Kernel kPackedLinearOut, kPackedLinearRowsOut;
const Kernel kPackedLinearOut =
    overlay<fast_packed_linear, portable::kPackedLinearOut>("taper::packed_linear.out");
const Kernel kPackedLinearRowsOut =
    overlay<fast_packed_linear_rows, portable::kPackedLinearRowsOut>(
        "taper::packed_linear_rows.out");

}  // namespace taper::optimized
#endif  // HWY_ONCE
