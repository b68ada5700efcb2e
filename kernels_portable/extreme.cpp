// One scan per output element; see extreme.h.

#include "kernels_portable/extreme.h"

#include "kernels_portable/promote.h"
#include "kernels_portable/reduce.h"

namespace taper::portable {
namespace {

// What the scan of one output element has found so far.
template <typename C>
struct Found {
  C value = 0;
  int64_t index = -1;
};

template <typename C>
void scan(Extreme extreme, const C* block, int64_t count, int64_t first, Found<C>* found) {
  C best = found->value;
  int64_t index = found->index;
  for (int64_t i = 0; i < count; ++i) {
    const C x = block[i];
    const bool better = extreme == Extreme::kMax ? x > best : x < best;
    const bool first_nan = x != x && best == best;
    if (index < 0 || better || first_nan) {
      best = x;
      index = first + i;
    }
    if (best != best) break;
  }
  found->value = best;
  found->index = index;
}

template <typename C>
void find_as(Extreme extreme, const ReducePlan& plan, const Tensor& self, Tensor* values,
             Tensor* indices) {
  for_each_output(plan, [&](int64_t self_offset, int64_t out_offset) {
    Found<C> found;
    int64_t position = 0;
    visit_folded<C>(plan, self, self_offset, [&](const C* block, int64_t count) {
      if (found.value == found.value) scan(extreme, block, count, position, &found);
      position += count;
    });
    if (values != nullptr) {
      const ScalarType type = values->scalar_type();
      store_one<C>(found.value, element(values->mutable_data(), out_offset, type), type);
    }
    if (indices != nullptr) indices->mutable_data_ptr<int64_t>()[out_offset] = found.index;
  });
}

// All elements in row-major order, whatever the dim order.
LoopNest flattened(const Tensor& self) {
  LoopNest nest;
  nest.operands = 1;
  for (int64_t d = 0; d < self.dim(); ++d) {
    const int64_t stride = self.strides()[static_cast<size_t>(d)];
    nest.add_loop(self.size(d), &stride);
  }
  nest.simplify();
  return nest;
}

Status check_outputs(const Tensor& self, Tensor* values, Tensor* indices) {
  TAPER_REQUIRE(self.scalar_type() != ScalarType::kUInt64, Error::kNotSupported,
                "uint64 is not supported by max and min");
  TAPER_REQUIRE(values == nullptr || values->scalar_type() == self.scalar_type(),
                Error::kInvalidType, "the values must have the dtype of self");
  TAPER_REQUIRE(indices == nullptr || indices->scalar_type() == ScalarType::kLong,
                Error::kInvalidType, "the indices must be int64");
  TAPER_REQUIRE(!values || !indices || same_dim_order(*values, *indices), Error::kNotSupported,
                "values and indices must have the same dim order");
  return {};
}

}  // namespace

Status find_extreme(Extreme extreme, const Tensor& self, std::optional<int64_t> dim, bool keepdim,
                    Tensor* values, Tensor* indices) {
  TAPER_TRY(check_outputs(self, values, indices));
  DimMask mask = 0;
  TAPER_TRY(make_dim_mask(std::nullopt, self.dim(), &mask));
  if (dim.has_value()) {
    int64_t wrapped = 0;
    TAPER_TRY(wrap_dim(*dim, self.dim(), &wrapped));
    mask &= DimMask{1} << wrapped;
  }
  const Sizes sizes = reduced_sizes(self, mask, keepdim);
  if (values != nullptr) TAPER_TRY(values->resize(sizes));
  if (indices != nullptr) TAPER_TRY(indices->resize(sizes));
  const Tensor& out = values != nullptr ? *values : *indices;
  TAPER_REQUIRE(out.numel() == 0 || folded_elements(self, mask) > 0, Error::kInvalidArgument,
                "there is no largest or smallest of no elements");
  ReducePlan plan = plan_reduction(self, mask, keepdim, out);
  if (!dim.has_value()) plan.folded = flattened(self);
  if (is_floating(self.scalar_type())) {
    find_as<double>(extreme, plan, self, values, indices);
  } else {
    find_as<int64_t>(extreme, plan, self, values, indices);
  }
  return {};
}

}  // namespace taper::portable
