// aten::max_pool2d_with_indices_backward.grad_input: adds each gradient to the input element that
// was the largest of its window; indices locate it within its plane.

#include <cstring>

#include "kernels_portable/cores/pool.h"
#include "kernels_portable/engine/compute.h"
#include "kernels_portable/engine/dims.h"
#include "kernels_portable/engine/view.h"

namespace taper::portable {
namespace {

// Adds the gradients of one plane.
template <typename T>
Status spread_plane(const Images& grad, const Images& to, const Images& indices, int64_t n,
                    int64_t c) {
  for (int64_t y = 0; y < grad.height; ++y) {
    for (int64_t x = 0; x < grad.width; ++x) {
      const int64_t index = *static_cast<const int64_t*>(indices.at(n, c, y, x));
      TAPER_REQUIRE(index >= 0 && index < to.height * to.width, Error::kInvalidArgument,
                    "max_pool2d_backward: index out of range");
      void* target = to.at(n, c, index / to.width, index % to.width);
      const T sum = load_one<T>(target, to.type) + load_one<T>(grad.at(n, c, y, x), grad.type);
      store_one<T>(sum, target, to.type);
    }
  }
  return {};
}

Status max_pool2d_backward_out(KernelContext&, const Tensor& grad_output, const Tensor& self,
                               IntList kernel_size, IntList stride, IntList padding,
                               IntList dilation, bool ceil_mode, const Tensor& indices,
                               Tensor& grad_input) {
  const ScalarType type = self.scalar_type();
  TAPER_REQUIRE(is_floating(type) && grad_output.scalar_type() == type &&
                    grad_input.scalar_type() == type && indices.scalar_type() == ScalarType::kLong,
                Error::kInvalidType,
                "max_pool2d_backward: gradients must be floating point and indices int64");
  Pooling pooling;
  int64_t sizes[4];
  TAPER_TRY(
      describe_pooling(self, {kernel_size, stride, padding, dilation, ceil_mode}, &pooling, sizes));
  TAPER_REQUIRE(grad_output.dim() == self.dim() && same_sizes(grad_output, indices),
                Error::kInvalidArgument,
                "max_pool2d_backward: grad_output and indices must share one shape");
  for (int64_t d = 0; d < self.dim(); ++d) {
    TAPER_REQUIRE(grad_output.size(d) == sizes[d], Error::kInvalidArgument,
                  "max_pool2d_backward: grad_output does not have the sizes of the pooling");
  }
  TAPER_TRY(grad_input.resize(self.sizes()));
  if (grad_input.nbytes() > 0) std::memset(grad_input.mutable_data(), 0, grad_input.nbytes());
  const Images grad = images_of(grad_output);
  const Images to = images_of(grad_input);
  const Images where = images_of(indices);
  return with_float_type(type, [&](auto zero) -> Status {
    for (int64_t n = 0; n < grad.batch; ++n) {
      for (int64_t c = 0; c < grad.channels; ++c) {
        TAPER_TRY(spread_plane<decltype(zero)>(grad, to, where, n, c));
      }
    }
    return {};
  });
}

}  // namespace

extern const Kernel kMaxPool2dWithIndicesBackwardGradInput;
const Kernel kMaxPool2dWithIndicesBackwardGradInput =
    make_kernel<max_pool2d_backward_out>("aten::max_pool2d_with_indices_backward.grad_input");

}  // namespace taper::portable
