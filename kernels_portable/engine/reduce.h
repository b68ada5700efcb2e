// Reductions over some of the dimensions: sum, mean, amax, any, ...
//
// A reduction is a start value and two loops over a block: fold() accumulates a run of elements
// into one accumulator, combine() accumulates rows of elements into as many accumulators. Which one
// is used depends on whether the innermost dimension in memory is reduced or kept. Floats
// accumulate in double, integers in int64_t.

#pragma once

#include <cstdint>
#include <optional>

#include "kernels_portable/engine/convert.h"
#include "kernels_portable/engine/dims.h"
#include "kernels_portable/engine/line_math.h"
#include "kernels_portable/engine/strided.h"
#include "taper/kernel.h"

namespace taper::portable {

inline constexpr int64_t kReduceBlock = 256;

// The loops that reduce values of type V into accumulators of type A.
template <typename V, typename A>
struct Reducer {
  A start = 0;
  A (*fold)(A accumulator, const V* values, int64_t count) = nullptr;
  // Accumulates `rows` rows of `count` values, `step` values apart, into `count` accumulators.
  // REQUIRES: count is at most kReduceBlock.
  void (*combine)(A* accumulators, const V* values, int64_t count, int64_t rows,
                  int64_t step) = nullptr;
};

struct Reduction {
  Reducer<float, double> f32;  // May be empty: floats are then read as doubles.
  Reducer<double, double> f64;
  Reducer<int64_t, int64_t> i64;
};

// The two loops, made from a struct Op with a templated static start() and a templated call
// operator (accumulator, value) -> accumulator, which must be commutative and associative. If V is
// float and A is double, short runs are reduced in float and their results accumulated in double;
// the call operator must then accept vectors too.
template <typename Op, typename V, typename A>
A fold_with(A accumulator, const V* values, int64_t count) {
  const Op op;
  int64_t i = 0;
  if constexpr (!std::is_same_v<V, A>) {
    constexpr int64_t kRun = 256;
    for (; i < count; i += kRun) {
      const int64_t run = count - i < kRun ? count - i : kRun;
      accumulator =
          op(accumulator,
             static_cast<A>(fold_block(Op::template start<V>(), values + i, run, op, op)));
    }
    return accumulator;
  }
  V lanes[4];
  for (V& lane : lanes) lane = Op::template start<V>();
  for (; i + 4 <= count; i += 4) {
    for (int k = 0; k < 4; ++k) lanes[k] = op(lanes[k], values[i + k]);
  }
  for (; i < count; ++i) lanes[0] = op(lanes[0], values[i]);
  for (const V lane : lanes) accumulator = op(accumulator, static_cast<A>(lane));
  return accumulator;
}
template <typename Op, typename V, typename A>
void combine_with(A* accumulators, const V* values, int64_t count, int64_t rows, int64_t step) {
  const Op op;
  int64_t row = 0;
  if constexpr (!std::is_same_v<V, A>) {
    for (; row + 4 <= rows; row += 4, values += 4 * step) {
      const V* const rest[] = {values + step, values + 2 * step, values + 3 * step};
      V four[kReduceBlock];
      for (int64_t i = 0; i < count; ++i) {
        four[i] = op(op(values[i], rest[0][i]), op(rest[1][i], rest[2][i]));
      }
      for (int64_t i = 0; i < count; ++i) {
        accumulators[i] = op(accumulators[i], static_cast<A>(four[i]));
      }
    }
  }
  for (; row < rows; ++row, values += step) {
    for (int64_t i = 0; i < count; ++i) {
      accumulators[i] = op(accumulators[i], static_cast<A>(values[i]));
    }
  }
}

template <typename Op, typename V, typename A = V>
constexpr Reducer<V, A> reducer() {
  return {Op::template start<A>(), fold_with<Op, V, A>, combine_with<Op, V, A>};
}

// The reduction by Op; fast_reduction() has the loops for floats too.
template <typename Op>
constexpr Reduction reduction() {
  return {{}, reducer<Op, double>(), reducer<Op, int64_t>()};
}
template <typename Op>
constexpr Reduction fast_reduction() {
  return {reducer<Op, float, double>(), reducer<Op, double>(), reducer<Op, int64_t>()};
}

Reduction sum_reduction();

// The loops of a reduction of `self` over the dims in `mask`. In `kept`, operand 0 is self and 1 is
// out; in `folded`, operand 0 is self.
struct ReducePlan {
  LoopNest kept;
  LoopNest folded;
  int64_t folded_count = 1;  // Elements per output.
};
// REQUIRES: out has the sizes reduced_sizes(self, mask, keepdim).
ReducePlan plan_reduction(const Tensor& self, DimMask mask, bool keepdim, const Tensor& out);

// Resizes out, reduces the elements of self over the dims in `mask` and writes the results, divided
// by `divisor` if `compute` is a float. Accumulates in double if `compute` is a float, otherwise in
// int64_t. `result` is the dtype of the results, which must be castable to that of out.
Status reduce(const Reduction& reduction, const Tensor& self, DimMask mask, bool keepdim,
              ScalarType compute, ScalarType result, double divisor, Tensor& out);

// The number of elements that are reduced into one output.
int64_t folded_elements(const Tensor& self, DimMask mask);

// Resolves an optional dtype argument: `given`, which must be a supported dtype, or `otherwise`.
Status dtype_or(std::optional<int64_t> given, ScalarType otherwise, ScalarType* type);

// What sum and prod yield by default: integers and bool become int64.
constexpr ScalarType sum_type(ScalarType type) {
  return is_floating(type) ? type : ScalarType::kLong;
}

// Calls visit(block, count) with the elements that are reduced into one output, the first of which
// lies at `offset`: in place if they are contiguous values of C, otherwise converted, in blocks of
// at most kReduceBlock.
template <typename C, typename Visit>
void visit_folded(const ReducePlan& plan, const Tensor& self, int64_t offset, Visit&& visit) {
  const ScalarType type = self.scalar_type();
  const LoadFunction<C> load = loader<C>(type);
  const int64_t stride = plan.folded.inner_stride(0);
  const bool in_place = stride == 1 && type == native_type<C>();
  plan.folded.for_each_run([&](const int64_t* offsets, int64_t n) {
    const void* from = element(self.const_data(), offset + offsets[0], type);
    if (in_place) return visit(static_cast<const C*>(from), n);
    for (int64_t first = 0; first < n; first += kReduceBlock) {
      const int64_t count = n - first < kReduceBlock ? n - first : kReduceBlock;
      C block[kReduceBlock];
      load(element(from, first * stride, type), stride, count, block);
      visit(static_cast<const C*>(block), count);
    }
  });
}

// Calls each(self_offset, out_offset) for every output element.
template <typename Each>
void for_each_output(const ReducePlan& plan, Each&& each) {
  const int64_t self_stride = plan.kept.inner_stride(0);
  const int64_t out_stride = plan.kept.inner_stride(1);
  plan.kept.for_each_run([&](const int64_t* offsets, int64_t n) {
    for (int64_t i = 0; i < n; ++i) each(offsets[0] + i * self_stride, offsets[1] + i * out_stride);
  });
}

}  // namespace taper::portable
