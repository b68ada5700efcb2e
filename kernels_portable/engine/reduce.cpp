// The two orders in which a strided tensor is reduced; see reduce.h.

#include "kernels_portable/engine/reduce.h"

#include "kernels_portable/engine/arith.h"
#include "kernels_portable/engine/promote.h"

namespace taper::portable {
namespace {

struct Sum {
  template <typename C>
  static constexpr C start() {
    return 0;
  }
  template <typename C>
  C operator()(C sum, C value) const {
    if constexpr (std::is_integral_v<C>) {
      return wrap_add(sum, value);
    } else {
      return sum + value;
    }
  }
};

template <typename C>
C divided(C value, double divisor) {
  if constexpr (std::is_floating_point_v<C>) return divisor == 1 ? value : value / divisor;
  return value;
}

// The innermost dimension is reduced: computes one output at a time.
template <typename V, typename A>
void reduce_rows(const Reducer<V, A>& reducer, const ReducePlan& plan, const Tensor& self,
                 double divisor, Tensor& out) {
  const StoreFunction<A> store = storer<A>(out.scalar_type());
  for_each_output(plan, [&](int64_t self_offset, int64_t out_offset) {
    A sum = reducer.start;
    visit_folded<V>(plan, self, self_offset,
                    [&](const V* block, int64_t count) { sum = reducer.fold(sum, block, count); });
    sum = divided(sum, divisor);
    store(&sum, 1, element(out.mutable_data(), out_offset, out.scalar_type()), 1);
  });
}

// Reduces into `count` accumulators all rows of `count` elements that belong to them, the first of
// which begins at `offset`.
template <typename V, typename A>
void combine_rows(const Reducer<V, A>& reducer, const ReducePlan& plan, const Tensor& self,
                  int64_t offset, int64_t count, A* sums) {
  const ScalarType type = self.scalar_type();
  const LoadFunction<V> load = loader<V>(type);
  const int64_t stride = plan.kept.inner_stride(0);
  const int64_t step = plan.folded.inner_stride(0);
  plan.folded.for_each_run([&](const int64_t* folded, int64_t rows) {
    const void* from = element(self.const_data(), offset + folded[0], type);
    if (stride == 1 && type == native_type<V>()) {
      return reducer.combine(sums, static_cast<const V*>(from), count, rows, step);
    }
    for (int64_t row = 0; row < rows; ++row) {
      V block[kReduceBlock];
      load(element(from, row * step, type), stride, count, block);
      reducer.combine(sums, block, count, 1, 0);
    }
  });
}

// The innermost dimension is kept: computes a block of outputs at a time, so that memory is read in
// order.
template <typename V, typename A>
void reduce_columns(const Reducer<V, A>& reducer, const ReducePlan& plan, const Tensor& self,
                    double divisor, Tensor& out) {
  const StoreFunction<A> store = storer<A>(out.scalar_type());
  const int64_t stride = plan.kept.inner_stride(0);
  const int64_t out_stride = plan.kept.inner_stride(1);
  A sums[kReduceBlock];
  plan.kept.for_each_run([&](const int64_t* kept, int64_t n) {
    for (int64_t first = 0; first < n; first += kReduceBlock) {
      const int64_t count = n - first < kReduceBlock ? n - first : kReduceBlock;
      for (int64_t i = 0; i < count; ++i) sums[i] = reducer.start;
      combine_rows(reducer, plan, self, kept[0] + first * stride, count, sums);
      for (int64_t i = 0; i < count; ++i) sums[i] = divided(sums[i], divisor);
      const int64_t offset = kept[1] + first * out_stride;
      store(sums, count, element(out.mutable_data(), offset, out.scalar_type()), out_stride);
    }
  });
}

template <typename V, typename A>
void reduce_as(const Reducer<V, A>& reducer, const ReducePlan& plan, const Tensor& self,
               double divisor, Tensor& out) {
  const bool columns = plan.kept.inner_size() > 1 && plan.folded_count > 1 &&
                       plan.kept.inner_stride(0) < plan.folded.inner_stride(0);
  if (columns) return reduce_columns(reducer, plan, self, divisor, out);
  reduce_rows(reducer, plan, self, divisor, out);
}

}  // namespace

Reduction sum_reduction() { return fast_reduction<Sum>(); }

ReducePlan plan_reduction(const Tensor& self, DimMask mask, bool keepdim, const Tensor& out) {
  ReducePlan plan;
  plan.kept.operands = 2;
  plan.folded.operands = 1;
  for (uint8_t d : self.dim_order()) {
    const int64_t stride = self.strides()[d];
    if (mask >> d & 1) {
      plan.folded.add_loop(self.size(d), &stride);
      plan.folded_count *= self.size(d);
      continue;
    }
    int64_t out_dim = d;
    for (int64_t before = 0; before < d && !keepdim; ++before) out_dim -= mask >> before & 1;
    const int64_t strides[] = {stride, out.strides()[static_cast<size_t>(out_dim)]};
    plan.kept.add_loop(self.size(d), strides);
  }
  plan.kept.simplify();
  plan.folded.simplify();
  return plan;
}

int64_t folded_elements(const Tensor& self, DimMask mask) {
  int64_t count = 1;
  for (int64_t d = 0; d < self.dim(); ++d) count *= (mask >> d & 1) != 0 ? self.size(d) : 1;
  return count;
}

Status dtype_or(std::optional<int64_t> given, ScalarType otherwise, ScalarType* type) {
  *type = otherwise;
  if (!given.has_value()) return {};
  TAPER_REQUIRE(*given >= 0 && *given <= INT8_MAX && is_valid(static_cast<ScalarType>(*given)),
                Error::kInvalidArgument, "the dtype argument is not a supported dtype");
  *type = static_cast<ScalarType>(*given);
  return {};
}

Status reduce(const Reduction& reduction, const Tensor& self, DimMask mask, bool keepdim,
              ScalarType compute, ScalarType result, double divisor, Tensor& out) {
  TAPER_REQUIRE(self.scalar_type() != ScalarType::kUInt64, Error::kInvalidType,
                "uint64 is not supported by reductions");
  TAPER_REQUIRE(can_cast(result, out.scalar_type()), Error::kInvalidType,
                "the result cannot be cast to the dtype of out");
  TAPER_TRY(out.resize(reduced_sizes(self, mask, keepdim)));
  const ReducePlan plan = plan_reduction(self, mask, keepdim, out);
  const bool is_narrow = !in_double(self.scalar_type()) && !in_double(compute) &&
                         in_float(self.scalar_type()) && in_float(compute);
  if (is_narrow && reduction.f32.fold != nullptr) {
    reduce_as(reduction.f32, plan, self, divisor, out);
  } else if (in_double(compute) || in_float(compute)) {
    reduce_as(reduction.f64, plan, self, divisor, out);
  } else {
    reduce_as(reduction.i64, plan, self, divisor, out);
  }
  return {};
}

}  // namespace taper::portable
