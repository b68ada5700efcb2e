// The batch norms: subtract from each channel (dim 1) its mean, divide by its standard deviation,
// scale and shift.
//
//   aten::_native_batch_norm_legit_no_training.out
//       uses the running statistics; out1 and out2 are empty.
//   aten::_native_batch_norm_legit.out
//       in training, uses the statistics of the batch and moves the running ones towards them by
//       momentum; otherwise like the above.
//   aten::_native_batch_norm_legit.no_stats_out
//       uses the statistics of the batch.
//
//   Outputs   in training, save_mean and save_invstd are the mean and the reciprocal deviation of
//             each channel.
//   Types     floats. Layout: any.

#include <cmath>

#include "kernels_portable/cores/norm.h"
#include "kernels_portable/engine/dims.h"
#include "kernels_portable/engine/moments.h"

namespace taper::portable {
namespace {

Status resize_to(Tensor& tensor, int64_t size) {
  Sizes sizes;
  sizes.push(size);
  return tensor.resize(sizes);
}

Status with_running_statistics(const Tensor& input, const Tensor* weight, const Tensor* bias,
                               const Tensor& mean, const Tensor& variance, double eps, Tensor& out,
                               Tensor& save_mean, Tensor& save_invstd) {
  TAPER_REQUIRE(is_floating(input.scalar_type()), Error::kInvalidType,
                "batch norm: input and outputs must be floats");
  TAPER_TRY(resize_to(save_mean, 0));
  TAPER_TRY(resize_to(save_invstd, 0));
  return normalise_channels(input, weight, bias, {mean, variance, false, eps}, out);
}

// running = (1 - momentum) * running + momentum * value, for one channel.
void move_towards(double value, double momentum, int64_t channel, Tensor& running) {
  const ScalarType type = running.scalar_type();
  void* at = element(running.mutable_data(), channel, type);
  store_one((1 - momentum) * load_one<double>(at, type) + momentum * value, at, type);
}

Status with_batch_statistics(const Tensor& input, const Tensor* weight, const Tensor* bias,
                             Tensor* running_mean, Tensor* running_variance, double momentum,
                             double eps, Tensor& out, Tensor& save_mean, Tensor& save_invstd) {
  TAPER_REQUIRE(input.dim() >= 2, Error::kInvalidArgument, "batch norm: input has no channels");
  TAPER_REQUIRE(is_floating(input.scalar_type()) && is_floating(save_mean.scalar_type()) &&
                    is_floating(save_invstd.scalar_type()),
                Error::kInvalidType, "batch norm: input and outputs must be floats");
  TAPER_TRY(check_affine(running_mean, running_variance, input.size(1)));
  TAPER_TRY(resize_to(save_mean, input.size(1)));
  TAPER_TRY(resize_to(save_invstd, input.size(1)));
  const DimMask mask = ((DimMask{1} << input.dim()) - 1) & ~DimMask{2};
  const ReducePlan plan = plan_reduction(input, mask, false, save_mean);
  const double count = static_cast<double>(plan.folded_count);
  for_each_output(plan, [&](int64_t input_offset, int64_t channel) {
    const Moments moments = moments_of(plan, input, input_offset);
    const double rstd = 1 / std::sqrt(moments.squares / count + eps);
    const ScalarType type = save_mean.scalar_type();
    store_one(moments.mean, element(save_mean.mutable_data(), channel, type), type);
    const ScalarType rstd_type = save_invstd.scalar_type();
    store_one(rstd, element(save_invstd.mutable_data(), channel, rstd_type), rstd_type);
    if (running_mean == nullptr) return;
    move_towards(moments.mean, momentum, channel, *running_mean);
    move_towards(moments.squares / (count - 1), momentum, channel, *running_variance);
  });
  return normalise_channels(input, weight, bias, {save_mean, save_invstd, true, eps}, out);
}

Status no_training_out(KernelContext&, const Tensor& input, const Tensor* weight,
                       const Tensor* bias, const Tensor& mean, const Tensor& variance, double,
                       double eps, Tensor& out, Tensor& save_mean, Tensor& save_invstd) {
  return with_running_statistics(input, weight, bias, mean, variance, eps, out, save_mean,
                                 save_invstd);
}

Status legit_out(KernelContext&, const Tensor& input, const Tensor* weight, const Tensor* bias,
                 Tensor& mean, Tensor& variance, bool training, double momentum, double eps,
                 Tensor& out, Tensor& save_mean, Tensor& save_invstd) {
  if (!training) {
    return with_running_statistics(input, weight, bias, mean, variance, eps, out, save_mean,
                                   save_invstd);
  }
  return with_batch_statistics(input, weight, bias, &mean, &variance, momentum, eps, out, save_mean,
                               save_invstd);
}

Status no_stats_out(KernelContext&, const Tensor& input, const Tensor* weight, const Tensor* bias,
                    bool training, double momentum, double eps, Tensor& out, Tensor& save_mean,
                    Tensor& save_invstd) {
  TAPER_REQUIRE(training, Error::kInvalidArgument,
                "batch norm: training must be true if there are no running statistics");
  return with_batch_statistics(input, weight, bias, nullptr, nullptr, momentum, eps, out, save_mean,
                               save_invstd);
}

}  // namespace

extern const Kernel kNativeBatchNormLegitNoTrainingOut;
extern const Kernel kNativeBatchNormLegitOut;
extern const Kernel kNativeBatchNormLegitNoStatsOut;
const Kernel kNativeBatchNormLegitNoTrainingOut =
    make_kernel<no_training_out>("aten::_native_batch_norm_legit_no_training.out");
const Kernel kNativeBatchNormLegitOut =
    make_kernel<legit_out>("aten::_native_batch_norm_legit.out");
const Kernel kNativeBatchNormLegitNoStatsOut =
    make_kernel<no_stats_out>("aten::_native_batch_norm_legit.no_stats_out");

}  // namespace taper::portable
