// Mean and variance; see moments.h.

#include "kernels_portable/engine/moments.h"

namespace taper::portable {

Moments moments_of(const ReducePlan& plan, const Tensor& self, int64_t offset) {
  Moments moments = {0, 0};
  visit_folded<double>(plan, self, offset, [&](const double* block, int64_t count) {
    moments.mean += sum_of_block(block, count);
  });
  moments.mean /= static_cast<double>(plan.folded_count);
  visit_folded<double>(plan, self, offset, [&](const double* block, int64_t count) {
    moments.squares += squares_of_block(block, count, moments.mean);
  });
  return moments;
}

Status variance(const Tensor& self, std::optional<IntList> dims, double correction, bool keepdim,
                Tensor& var, Tensor* mean) {
  TAPER_REQUIRE(is_floating(self.scalar_type()) && is_floating(var.scalar_type()) &&
                    (mean == nullptr || is_floating(mean->scalar_type())),
                Error::kInvalidType, "var: the operands must be floats");
  DimMask mask = 0;
  TAPER_TRY(make_dim_mask(dims, self.dim(), &mask));
  const Sizes sizes = reduced_sizes(self, mask, keepdim);
  TAPER_TRY(var.resize(sizes));
  if (mean != nullptr) {
    TAPER_TRY(mean->resize(sizes));
    TAPER_REQUIRE(same_dim_order(var, *mean), Error::kNotSupported,
                  "var_mean: the outputs must have the same dim order");
  }
  const ReducePlan plan = plan_reduction(self, mask, keepdim, var);
  const double left = static_cast<double>(plan.folded_count) - correction;
  const double divisor = left > 0 ? left : 0;
  for_each_output(plan, [&](int64_t self_offset, int64_t out_offset) {
    const Moments moments = moments_of(plan, self, self_offset);
    const ScalarType type = var.scalar_type();
    store_one(moments.squares / divisor, element(var.mutable_data(), out_offset, type), type);
    if (mean == nullptr) return;
    const ScalarType mean_type = mean->scalar_type();
    store_one(moments.mean, element(mean->mutable_data(), out_offset, mean_type), mean_type);
  });
  return {};
}

}  // namespace taper::portable
