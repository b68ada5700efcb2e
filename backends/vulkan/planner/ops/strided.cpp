#include "backends/vulkan/planner/ops/strided.h"

#include <cstring>

namespace taper::vulkan {
namespace {

constexpr int64_t kGroup = 256;  // Elements per workgroup, as the shaders have it.

bool is_representable(double number, ScalarType dtype) {
  return dtype == ScalarType::kFloat || (number >= INT32_MIN && number <= INT32_MAX);
}

// Whether elements 2 i and 2 i + 1 are a word of a tensor of float16, or the last one of it is.
bool fills_words(const Dims& sizes, const Walk& to) {
  const Dims whole = contiguous_strides(sizes);
  bool is_whole = true, is_even = to.offset % 2 == 0;
  size_t last = sizes.rank;  // The innermost dimension that is walked.
  for (size_t d = sizes.rank; d-- > 0;) {
    if (sizes[d] == 1) continue;
    is_whole = is_whole && to.strides[d] == whole[d];
    if (last == sizes.rank) {
      is_even = is_even && to.strides[d] == 1 && sizes[d] % 2 == 0;
      last = d;
    } else {
      is_even = is_even && to.strides[d] % 2 == 0;
    }
  }
  const bool ends = sizes.numel() % 2 == 0 || sizes.numel() == to.tensor.dims.numel();
  return (is_even && last < sizes.rank) || (is_whole && ends && to.offset % 2 == 0);
}

}  // namespace

void collapse(Dims& sizes, Dims* strides, size_t operands) {
  Dims merged;
  for (size_t d = 0; d < sizes.rank; ++d) {
    if (sizes[d] == 1) continue;
    bool joins = merged.rank > 0;
    for (size_t i = 0; i < operands && joins; ++i) {
      joins = strides[i][merged.rank - 1] == strides[i][d] * sizes[d];
    }
    if (joins) {
      merged[merged.rank - 1] *= sizes[d];
    } else {
      merged.push_back(sizes[d]);
    }
    for (size_t i = 0; i < operands; ++i) strides[i][merged.rank - 1] = strides[i][d];
  }
  if (merged.rank == 0) {
    merged.push_back(1);
    for (size_t i = 0; i < operands; ++i) strides[i][0] = 0;
  }
  sizes = merged;
}

Dims broadcast_strides(const Dims& from, const Dims& to) {
  const Dims own = contiguous_strides(from);
  Dims strides;
  strides.rank = to.rank;
  for (size_t d = 0; d < from.rank; ++d) {
    const size_t at = d + to.rank - from.rank;
    strides[at] = from[d] == 1 ? 0 : own[d];
  }
  return strides;
}

float as_float_bits(int64_t integer) {
  const auto word = static_cast<int32_t>(integer);
  float bits;
  std::memcpy(&bits, &word, sizeof(bits));
  return bits;
}

Dims broadcast(Call& call, const Dims& a, const Dims& b) {
  Dims out = a.rank >= b.rank ? a : b;
  const Dims& other = a.rank >= b.rank ? b : a;
  for (size_t d = 0; d < other.rank; ++d) {
    int64_t& size = out[d + out.rank - other.rank];
    call.require(size == other[d] || size == 1 || other[d] == 1, "sizes do not broadcast");
    if (size == 1) size = other[d];
  }
  return out;
}

void elementwise(Call& call, ElementFunction function, const Operand& out,
                 std::initializer_list<Operand> operands, Scalars scalars) {
  constexpr size_t kMaxRank = 5;
  struct Push {
    uint32_t count;
    float p, q;
    int32_t sizes[kMaxRank], a[kMaxRank], b[kMaxRank], c[kMaxRank];
  } push = {};
  if (!call.ok()) return;
  Dims sizes = out.dims;
  Dims strides[4];  // Of the operands and of the result.
  size_t count = 0;
  for (const Operand& operand : operands) {
    strides[count++] = broadcast_strides(operand.dims, out.dims);
  }
  strides[count] = contiguous_strides(out.dims);
  collapse(sizes, strides, count + 1);
  if (!call.require(sizes.rank <= kMaxRank, "it broadcasts along too many dimensions")) return;
  bool is_dense = true;
  for (size_t i = 0; i < count; ++i) is_dense &= sizes.rank == 1 && strides[i][0] == 1;
  push.count = static_cast<uint32_t>(out.dims.numel());
  push.p = scalars.p;
  push.q = scalars.q;
  narrow(push.sizes, sizes, sizes.rank);
  narrow(push.a, strides[0], sizes.rank);
  narrow(push.b, strides[1], count > 1 ? sizes.rank : 0);
  narrow(push.c, strides[2], count > 2 ? sizes.rank : 0);
  call.dispatch(Shader::elementwise)
      .constant(function)
      .constant(static_cast<uint32_t>(count))
      .constant(is_dense ? 0 : static_cast<uint32_t>(sizes.rank))
      .push(push)
      .writes(out);
  for (const Operand& operand : operands) call.reads(operand);
  call.groups_for_words(out);
}

Walk dense(const Operand& tensor) { return {tensor, 0, contiguous_strides(tensor.dims)}; }

void copy(Call& call, const Dims& all, const Walk& to, const Walk& from) {
  struct Push {
    uint32_t count;
    int32_t out_offset, in_offset;
    int32_t sizes[Dims::kMaxRank], out_strides[Dims::kMaxRank], in_strides[Dims::kMaxRank];
  } push = {};
  if (!call.ok()) return;
  Dims sizes = all;
  Dims strides[2] = {to.strides, from.strides};
  collapse(sizes, strides, 2);
  push.count = static_cast<uint32_t>(all.numel());
  push.out_offset = static_cast<int32_t>(to.offset);
  push.in_offset = static_cast<int32_t>(from.offset);
  narrow(push.sizes, sizes, sizes.rank);
  narrow(push.out_strides, strides[0], sizes.rank);
  narrow(push.in_strides, strides[1], sizes.rank);
  const bool in_words = call.is_half(to.tensor) && fills_words(all, to);
  call.dispatch(Shader::copy)
      .constant(static_cast<uint32_t>(sizes.rank))
      .constant(in_words)
      .push(push)
      .writes(to.tensor)
      .reads(from.tensor)
      .groups_for(in_words ? (all.numel() + 1) / 2 : all.numel(), kGroup);
}

uint32_t word_of(Call& call, double number, ScalarType dtype) {
  if (!call.require(is_representable(number, dtype), "a number does not fit into 32 bits"))
    return 0;
  if (dtype == ScalarType::kBool) return number != 0;
  if (dtype != ScalarType::kFloat) return static_cast<uint32_t>(static_cast<int64_t>(number));
  const auto value = static_cast<float>(number);
  uint32_t word;
  std::memcpy(&word, &value, sizeof(word));
  return word;
}

void fill(Call& call, const Operand& out, double first, double step) {
  struct Push {
    uint32_t count, first, step;
  } push;
  push = {static_cast<uint32_t>(out.dims.numel()), word_of(call, first, out.dtype),
          word_of(call, step, out.dtype)};
  call.dispatch(Shader::fill)
      .constant(out.dtype == ScalarType::kFloat)
      .push(push)
      .writes(out)
      .groups_for_words(out);
}

}  // namespace taper::vulkan
