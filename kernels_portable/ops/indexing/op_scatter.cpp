// aten::scatter.src_out, .value_out and scatter_add.out: self with out[index[i][j]][j] = src[i][j],
// for dim 0 of a matrix; scatter_add adds instead.
//
//   Sizes    out has the sizes of self. index is no larger than src, nor than self except along
//            dim.
//   Indices  int32 or int64; not negative. Where several are equal, scatter keeps the last value.

#include <cstring>

#include "kernels_portable/cores/scatter.h"
#include "kernels_portable/engine/arith.h"
#include "kernels_portable/engine/convert.h"
#include "kernels_portable/engine/fill.h"

namespace taper::portable {
namespace {

Status copy_self(const Tensor& self, Tensor& out) {
  TAPER_REQUIRE(out.scalar_type() == self.scalar_type(), Error::kInvalidArgument,
                "scatter: out must have the dtype of self");
  return write_view(view_of(self), out);
}

Status scatter_view(int64_t dim, const Tensor& index, const View& from, Tensor& out) {
  PickLoops loops;
  TAPER_TRY(loops.init(out, dim, index, from));
  const size_t size = element_size(out.scalar_type());
  char* to = static_cast<char*>(out.mutable_data());
  const int64_t bytes = static_cast<int64_t>(size);
  return loops.for_each_chunk(
      [&](const int64_t* picked, int64_t offset, int64_t stride, int64_t count) {
        for (int64_t i = 0; i < count; ++i) {
          std::memmove(to + picked[i] * bytes, from.data + (offset + i * stride) * bytes, size);
        }
      });
}

Status scatter_src(KernelContext&, const Tensor& self, int64_t dim, const Tensor& index,
                   const Tensor& src, Tensor& out) {
  TAPER_REQUIRE(src.scalar_type() == self.scalar_type(), Error::kInvalidArgument,
                "scatter: src must have the dtype of self");
  TAPER_TRY(copy_self(self, out));
  return scatter_view(dim, index, view_of(src), out);
}

Status scatter_value(KernelContext&, const Tensor& self, int64_t dim, const Tensor& index,
                     Scalar value, Tensor& out) {
  TAPER_TRY(copy_self(self, out));
  unsigned char bytes[8];
  encode_scalar(value, out.scalar_type(), bytes);
  View from =
      view_of(index);  // A view with the sizes of index, every element of which is the value.
  from.data = reinterpret_cast<char*>(bytes);
  for (size_t d = 0; d < from.rank; ++d) from.strides[d] = 0;
  return scatter_view(dim, index, from, out);
}

template <typename C>
Status add_picked(const PickLoops& loops, const Tensor& src, Tensor& out) {
  const ScalarType type = out.scalar_type();
  const LoadFunction<C> load = loader<C>(type);
  const StoreFunction<C> store = storer<C>(type);
  return loops.for_each_chunk(
      [&](const int64_t* picked, int64_t offset, int64_t stride, int64_t count) {
        for (int64_t i = 0; i < count; ++i) {
          C sum;
          C term;
          void* target = element(out.mutable_data(), picked[i], type);
          load(target, 1, 1, &sum);
          load(element(src.const_data(), offset + i * stride, type), 1, 1, &term);
          sum = wrap_add(sum, term);
          store(&sum, 1, target, 1);
        }
      });
}

// scatter_add of floats, without a conversion call for each element.
Status add_floats(const PickLoops& loops, const Tensor& src, Tensor& out) {
  auto* sums = static_cast<float*>(out.mutable_data());
  const auto* terms = static_cast<const float*>(src.const_data());
  return loops.for_each_chunk(
      [&](const int64_t* picked, int64_t offset, int64_t stride, int64_t count) {
        for (int64_t i = 0; i < count; ++i) sums[picked[i]] += terms[offset + i * stride];
      });
}

Status scatter_add(KernelContext&, const Tensor& self, int64_t dim, const Tensor& index,
                   const Tensor& src, Tensor& out) {
  TAPER_REQUIRE(src.scalar_type() == self.scalar_type(), Error::kInvalidArgument,
                "scatter_add: src must have the dtype of self");
  TAPER_TRY(copy_self(self, out));
  PickLoops loops;
  TAPER_TRY(loops.init(out, dim, index, view_of(src)));
  if (out.scalar_type() == ScalarType::kFloat) return add_floats(loops, src, out);
  if (in_double(out.scalar_type())) return add_picked<double>(loops, src, out);
  return in_float(out.scalar_type()) ? add_picked<float>(loops, src, out)
                                     : add_picked<int64_t>(loops, src, out);
}

}  // namespace

extern const Kernel kScatterSrcOut;
const Kernel kScatterSrcOut = make_kernel<scatter_src>("aten::scatter.src_out");
extern const Kernel kScatterValueOut;
const Kernel kScatterValueOut = make_kernel<scatter_value>("aten::scatter.value_out");
extern const Kernel kScatterAddOut;
const Kernel kScatterAddOut = make_kernel<scatter_add>("aten::scatter_add.out");

}  // namespace taper::portable
