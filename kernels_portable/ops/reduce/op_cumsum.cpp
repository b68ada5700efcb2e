// aten::cumsum.out: running sums along dim.
//
//   Types     floats keep their dtype and accumulate in double; integers and bool become int64. The
//             argument dtype overrides that.

#include "kernels_portable/engine/arith.h"
#include "kernels_portable/engine/lines.h"
#include "kernels_portable/engine/promote.h"
#include "kernels_portable/engine/reduce.h"

namespace taper::portable {
namespace {

constexpr int64_t kBlock = 256;

// Reads values and writes results as V; accumulates in A.
template <typename V, typename A>
void sum_line(const Line& in, const Line& out) {
  A sum = 0;
  for_each_block(in.size, kBlock, [&](int64_t first, int64_t count) {
    V buffer[kBlock], results[kBlock];
    const V* values = in.read(first, count, buffer);
    V* sums = out.target(first, results);
    for (int64_t i = 0; i < count; ++i) {
      sum = wrap_add(sum, static_cast<A>(values[i]));
      sums[i] = static_cast<V>(sum);
    }
    out.write(first, count, sums);
  });
}

Status cumsum_out(KernelContext&, const Tensor& self, int64_t dim, std::optional<int64_t> dtype,
                  Tensor& out) {
  ScalarType type;
  TAPER_TRY(dtype_or(dtype, sum_type(self.scalar_type()), &type));
  TAPER_TRY(wrap_dim(dim, self.dim(), &dim));
  TAPER_REQUIRE(can_cast(type, out.scalar_type()), Error::kInvalidType,
                "cumsum: the result cannot be cast to the dtype of out");
  TAPER_TRY(out.resize(self.sizes()));
  if (!in_double(type) && !in_float(type)) {
    for_each_line(self, dim, out, sum_line<int64_t, int64_t>);
  } else if (!in_double(type) && !in_double(self.scalar_type()) && in_float(self.scalar_type())) {
    for_each_line(self, dim, out, sum_line<float, double>);
  } else {
    for_each_line(self, dim, out, sum_line<double, double>);
  }
  return {};
}

}  // namespace

extern const Kernel kCumsumOut;
const Kernel kCumsumOut = make_kernel<cumsum_out>("aten::cumsum.out");

}  // namespace taper::portable
