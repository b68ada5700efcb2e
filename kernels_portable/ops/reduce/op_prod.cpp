// aten::prod: the product of all elements, or over one dim. The product of no elements is 1.
//
//   Types     floats keep their dtype; integers and bool become int64 and wrap around. The argument
//             dtype overrides that.
//   Overloads out (all elements), int_out (one dim).

#include "kernels_portable/engine/arith.h"
#include "kernels_portable/engine/reduce.h"

namespace taper::portable {
namespace {

struct Product {
  template <typename C>
  static constexpr C start() {
    return 1;
  }
  template <typename C>
  C operator()(C product, C value) const {
    return wrap_mul(product, value);
  }
};

Status prod(const Tensor& self, std::optional<IntList> dims, bool keepdim,
            std::optional<int64_t> dtype, Tensor& out) {
  ScalarType type;
  TAPER_TRY(dtype_or(dtype, sum_type(self.scalar_type()), &type));
  DimMask mask = 0;
  TAPER_TRY(make_dim_mask(dims, self.dim(), &mask));
  return reduce(reduction<Product>(), self, mask, keepdim, type, type, 1, out);
}

Status prod_out(KernelContext&, const Tensor& self, std::optional<int64_t> dtype, Tensor& out) {
  return prod(self, std::nullopt, false, dtype, out);
}

Status prod_int_out(KernelContext&, const Tensor& self, int64_t dim, bool keepdim,
                    std::optional<int64_t> dtype, Tensor& out) {
  return prod(self, IntList(&dim, 1), keepdim, dtype, out);
}

}  // namespace

extern const Kernel kProdOut;
extern const Kernel kProdIntOut;
const Kernel kProdOut = make_kernel<prod_out>("aten::prod.out");
const Kernel kProdIntOut = make_kernel<prod_int_out>("aten::prod.int_out");

}  // namespace taper::portable
