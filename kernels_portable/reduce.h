// Operators that fold dimensions away: sum, mean, amax, any, ...
//
// A reduction is a start value and two loops over a block: fold() takes a run of elements into one
// accumulator, combine() takes one element into each of many accumulators. Which one is used
// depends on whether the innermost dimension in memory is folded away or kept. Floats accumulate in
// double, integers in int64_t.

#pragma once

#include <cstdint>
#include <optional>

#include "kernels_portable/convert.h"
#include "kernels_portable/dims.h"
#include "kernels_portable/strided.h"
#include "taper/kernel.h"

namespace taper::portable {

template <typename C>
struct Reducer {
  C start;
  C (*fold)(C accumulator, const C* values, int64_t count);
  void (*combine)(C* accumulators, const C* values, int64_t count);
};

struct Reduction {
  Reducer<double> f64;
  Reducer<int64_t> i64;
};

// Makes both loops from a struct with a templated call operator (accumulator, value) -> accumulator
// that takes its arguments in any order, and a templated static start(). Folding in four lanes
// keeps the arithmetic units busy and the rounding error small.
template <typename Op, typename C>
C fold_with(C accumulator, const C* values, int64_t count) {
  const Op op;
  C lanes[4];
  for (C& lane : lanes) lane = Op::template start<C>();
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    for (int k = 0; k < 4; ++k) lanes[k] = op(lanes[k], values[i + k]);
  }
  for (; i < count; ++i) lanes[0] = op(lanes[0], values[i]);
  for (const C lane : lanes) accumulator = op(accumulator, lane);
  return accumulator;
}
template <typename Op, typename C>
void combine_with(C* accumulators, const C* values, int64_t count) {
  for (int64_t i = 0; i < count; ++i) accumulators[i] = Op()(accumulators[i], values[i]);
}
template <typename Op, typename C>
constexpr Reducer<C> reducer() {
  return {Op::template start<C>(), fold_with<Op, C>, combine_with<Op, C>};
}
template <typename Op>
constexpr Reduction reduction() {
  return {reducer<Op, double>(), reducer<Op, int64_t>()};
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

// Resizes out, folds the elements of self read as `compute` (a float: in double, else in int64_t)
// and writes the results, divided by `divisor` if compute is a float. `result` is the dtype of the
// results, which must be castable to that of out.
Status reduce(const Reduction& reduction, const Tensor& self, DimMask mask, bool keepdim,
              ScalarType compute, ScalarType result, double divisor, Tensor& out);

// The number of elements that are folded into one.
int64_t folded_elements(const Tensor& self, DimMask mask);

// The dtype argument of sum, prod and their like: `given` if it is a dtype, else `otherwise`.
Status dtype_or(std::optional<int64_t> given, ScalarType otherwise, ScalarType* type);

// What sum and prod yield by default: integers and bool become int64.
constexpr ScalarType sum_type(ScalarType type) {
  return is_floating(type) ? type : ScalarType::kLong;
}

// Calls visit(block, count) with the elements of one output, whose first lies at `offset`, in
// blocks of at most kReduceBlock values of type C.
inline constexpr int64_t kReduceBlock = 256;
template <typename C, typename Visit>
void visit_folded(const ReducePlan& plan, const Tensor& self, int64_t offset, Visit&& visit) {
  const ScalarType type = self.scalar_type();
  const LoadFunction<C> load = loader<C>(type);
  const int64_t stride = plan.folded.inner_stride(0);
  plan.folded.for_each_run([&](const int64_t* offsets, int64_t n) {
    for (int64_t first = 0; first < n; first += kReduceBlock) {
      const int64_t count = n - first < kReduceBlock ? n - first : kReduceBlock;
      C block[kReduceBlock];
      load(element(self.const_data(), offset + offsets[0] + first * stride, type), stride, count,
           block);
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
