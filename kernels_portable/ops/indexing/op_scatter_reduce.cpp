// aten::scatter_reduce.two_out: self with every src[i][j] combined into out[index[i][j]][j], for
// dim 0 of a matrix, by "sum", "prod", "amax" or "amin".
//
//   Sizes    out has the sizes of self. index is no larger than src, nor than self except along
//            dim.
//   Indices  int32 or int64; not negative. With include_self = false, the elements of self at which
//            any index points are ignored.
//   NaN      is the result wherever an operand is NaN.
//   "mean"   is refused: it needs memory for the counts, so the compiler decomposes it into a sum
//            divided by a count.

#include "kernels_portable/cores/scatter.h"
#include "kernels_portable/engine/arith.h"
#include "kernels_portable/engine/convert.h"

namespace taper::portable {
namespace {

enum class Fold { kSum, kProd, kMax, kMin };

bool parse_fold(std::string_view text, Fold* fold) {
  static constexpr std::string_view kNames[] = {"sum", "prod", "amax", "amin"};
  for (size_t i = 0; i < 4; ++i) {
    if (text != kNames[i]) continue;
    *fold = static_cast<Fold>(i);
    return true;
  }
  return false;
}

template <typename C>
C combine(Fold fold, C a, C b) {
  switch (fold) {
    case Fold::kSum:
      return wrap_add(a, b);
    case Fold::kProd:
      return wrap_mul(a, b);
    case Fold::kMax:
      return (b > a || b != b) && !(a != a) ? b : a;
    case Fold::kMin:
      return (b < a || b != b) && !(a != a) ? b : a;
  }
  return a;
}

// Calls visit(pointer to the element of out, element of src as C) for each index.
template <typename C, typename Visit>
Status for_each(const PickLoops& loops, const Tensor& src, Tensor& out, const Visit& visit) {
  const ScalarType type = out.scalar_type();
  const LoadFunction<C> load = loader<C>(type);
  return loops.for_each_chunk(
      [&](const int64_t* picked, int64_t offset, int64_t stride, int64_t count) {
        for (int64_t i = 0; i < count; ++i) {
          C term;
          load(element(src.const_data(), offset + i * stride, type), 1, 1, &term);
          visit(element(out.mutable_data(), picked[i], type), term);
        }
      });
}

// Overwrites every element of out at which an index points by a start value: 0 for sums, 1 for
// products, and for amax and amin any of the elements of src that belong there.
template <typename C>
Status clear_targets(Fold fold, const PickLoops& loops, const Tensor& src, Tensor& out) {
  const StoreFunction<C> store = storer<C>(out.scalar_type());
  return for_each<C>(loops, src, out, [&](void* place, C term) {
    if (fold == Fold::kSum) term = 0;
    if (fold == Fold::kProd) term = 1;
    store(&term, 1, place, 1);
  });
}

template <typename C>
Status reduce(Fold fold, bool include_self, const PickLoops& loops, const Tensor& src,
              Tensor& out) {
  if (!include_self) TAPER_TRY(clear_targets<C>(fold, loops, src, out));
  const LoadFunction<C> load = loader<C>(out.scalar_type());
  const StoreFunction<C> store = storer<C>(out.scalar_type());
  return for_each<C>(loops, src, out, [&](void* place, C term) {
    C value;
    load(place, 1, 1, &value);
    value = combine(fold, value, term);
    store(&value, 1, place, 1);
  });
}

Status scatter_reduce(KernelContext&, const Tensor& self, int64_t dim, const Tensor& index,
                      const Tensor& src, std::string_view reduction, bool include_self,
                      Tensor& out) {
  TAPER_REQUIRE(src.scalar_type() == self.scalar_type() && out.scalar_type() == self.scalar_type(),
                Error::kInvalidArgument, "scatter_reduce: src and out must have the dtype of self");
  Fold fold = Fold::kSum;
  TAPER_REQUIRE(parse_fold(reduction, &fold), Error::kInvalidArgument,
                "scatter_reduce: the reduction must be sum, prod, amax or amin");
  TAPER_TRY(write_view(view_of(self), out));
  PickLoops loops;
  TAPER_TRY(loops.init(out, dim, index, view_of(src)));
  if (in_double(out.scalar_type())) {
    return reduce<double>(fold, include_self, loops, src, out);
  }
  return in_float(out.scalar_type()) ? reduce<float>(fold, include_self, loops, src, out)
                                     : reduce<int64_t>(fold, include_self, loops, src, out);
}

}  // namespace

extern const Kernel kScatterReduceTwoOut;
const Kernel kScatterReduceTwoOut = make_kernel<scatter_reduce>("aten::scatter_reduce.two_out");

}  // namespace taper::portable
