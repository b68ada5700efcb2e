// One scan per output element; see extreme.h.

#include "kernels_portable/engine/extreme.h"

#include <limits>

#include "kernels_portable/engine/promote.h"
#include "kernels_portable/engine/reduce.h"

namespace taper::portable {
namespace {

// What the scan of one output element has found so far.
template <typename C>
struct Found {
  C value = 0;
  int64_t index = -1;
};

// The better of two floats or vectors of them; NaN if one is NaN.
template <Extreme kExtreme>
struct Better {
  template <typename V>
  V operator()(V best, V value) const {
    const V chosen = (kExtreme == Extreme::kMax ? value > best : value < best) ? value : best;
    return value != value ? value : chosen;
  }
};

// First finds the best value of the block with vectors; only if it improves on what was found
// before is the block searched for its position.
template <Extreme kExtreme, typename C>
void scan_floats(const C* block, int64_t count, int64_t first, Found<C>* found) {
  constexpr C kInfinity = std::numeric_limits<C>::infinity();
  const Better<kExtreme> better;
  const C worst = kExtreme == Extreme::kMax ? -kInfinity : kInfinity;
  const C best = fold_block(worst, block, count, better, better);
  const bool is_nan = best != best;
  const bool improves = kExtreme == Extreme::kMax ? best > found->value : best < found->value;
  if (count == 0 || !(found->index < 0 || is_nan || improves)) return;
  int64_t i = 0;
  while (is_nan ? block[i] == block[i] : block[i] != best) ++i;
  *found = {block[i], first + i};
}

void scan_integers(Extreme extreme, const int64_t* block, int64_t count, int64_t first,
                   Found<int64_t>* found) {
  for (int64_t i = 0; i < count; ++i) {
    const int64_t x = block[i];
    const bool better = extreme == Extreme::kMax ? x > found->value : x < found->value;
    if (found->index < 0 || better) *found = {x, first + i};
  }
}

template <typename C>
void scan(Extreme extreme, const C* block, int64_t count, int64_t first, Found<C>* found) {
  if constexpr (std::is_integral_v<C>) {
    scan_integers(extreme, block, count, first, found);
  } else if (extreme == Extreme::kMax) {
    scan_floats<Extreme::kMax>(block, count, first, found);
  } else {
    scan_floats<Extreme::kMin>(block, count, first, found);
  }
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
  TAPER_REQUIRE(self.scalar_type() != ScalarType::kUInt64, Error::kInvalidType,
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
  // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): one of the two is given.
  const Tensor& out = values != nullptr ? *values : *indices;
  TAPER_REQUIRE(out.numel() == 0 || folded_elements(self, mask) > 0, Error::kInvalidArgument,
                "max and min need at least one element");
  ReducePlan plan = plan_reduction(self, mask, keepdim, out);
  if (!dim.has_value()) plan.folded = flattened(self);
  if (in_double(self.scalar_type())) {
    find_as<double>(extreme, plan, self, values, indices);
  } else if (in_float(self.scalar_type())) {
    find_as<float>(extreme, plan, self, values, indices);
  } else {
    find_as<int64_t>(extreme, plan, self, values, indices);
  }
  return {};
}

}  // namespace taper::portable
