// Prim operators that read a number from a tensor, and the two that views and control flow need:
//
//   aten::sym_size.int, sym_numel          a size, or the number of elements
//   aten::_local_scalar_dense              the only element of a tensor, as a number
//   executorch_prim::et_view.default       makes out a view of the memory of self with other sizes
//   executorch_prim::et_copy_index.tensor  copies a tensor to index i of another one and resizes
//                                          that to i + 1 entries: collects the results of a map or
//                                          scan

#include "kernels_portable/cores/prim.h"
#include "kernels_portable/engine/convert.h"
#include "kernels_portable/engine/dims.h"
#include "kernels_portable/engine/view.h"

namespace taper::portable {
namespace {

Status sym_size(KernelContext&, EValue* const* args) {
  const Tensor& self = args[0]->to_tensor();
  const int64_t dim = read_number(*args[1]).to_int();
  TAPER_REQUIRE(dim >= -self.dim() && dim < self.dim(), Error::kInvalidArgument,
                "sym_size: dim is out of range");
  return write_number(self.size(dim < 0 ? dim + self.dim() : dim), args[2]);
}

Status sym_numel(KernelContext&, EValue* const* args) {
  return write_number(args[0]->to_tensor().numel(), args[1]);
}

Status local_scalar_dense(KernelContext&, EValue* const* args) {
  const Tensor& self = args[0]->to_tensor();
  TAPER_REQUIRE(self.numel() == 1, Error::kInvalidArgument,
                "_local_scalar_dense: self must have one element");
  const ScalarType type = self.scalar_type();
  if (is_floating(type)) return write_number(load_one<double>(self.const_data(), type), args[1]);
  return write_number(load_one<int64_t>(self.const_data(), type), args[1]);
}

Status et_view(KernelContext&, EValue* const* args) {
  const Tensor& self = args[0]->to_tensor();
  Tensor& out = args[2]->to_tensor();
  TAPER_REQUIRE(out.scalar_type() == self.scalar_type(), Error::kInvalidArgument,
                "et_view: out must have the dtype of self");
  int64_t sizes[kMaxRank];
  const IntList asked = args[1]->to_int_list();
  TAPER_TRY(infer_sizes(asked, self.numel(), sizes));
  TAPER_TRY(resize_out(out, sizes, asked.size()));
  const bool plain = self.is_contiguous() && out.is_contiguous();
  TAPER_REQUIRE(plain || (same_sizes(self, out) && same_dim_order(self, out)), Error::kNotSupported,
                "et_view: only contiguous tensors can take other sizes");
  out.set_data(self.mutable_data());
  return {};
}

Status et_copy_index(KernelContext&, EValue* const* args) {
  Tensor& to = args[0]->to_tensor();
  const Tensor& from = args[1]->to_tensor();
  const int64_t index = read_number(*args[2]).to_int();
  TAPER_REQUIRE(to.scalar_type() == from.scalar_type(), Error::kInvalidArgument,
                "et_copy_index: the tensors differ in dtype");
  TAPER_REQUIRE(to.dim() == from.dim() + 1 && to.is_contiguous() && index >= 0 && index < INT32_MAX,
                Error::kInvalidArgument,
                "et_copy_index: copy_to must be contiguous with one more dimension, index >= 0");
  View view = view_of(from);
  view.insert_dim(0, index + 1, 0);
  if (to.shape_dynamism() != ShapeDynamism::kStatic) {
    TAPER_TRY(resize_out(to, view.sizes, view.rank));
  }
  bool fits = index < to.size(0);
  for (int64_t d = 0; d < from.dim(); ++d) fits = fits && to.size(d + 1) == from.size(d);
  TAPER_REQUIRE(fits, Error::kInvalidArgument,
                "et_copy_index: the index or the sizes do not fit copy_to");
  View target = view_of(to);
  target.advance(0, index, element_size(to.scalar_type()));
  target.remove_dim(0);
  copy_view(target, view_of(from), element_size(to.scalar_type()));
  return {};
}

constexpr ArgSpec kTensor = {ArgKind::kTensor, false};
constexpr ArgSpec kAnyTensor = {ArgKind::kTensor, false, /*complex=*/true};
constexpr ArgSpec kInt = {ArgKind::kInt, false};
constexpr ArgSpec kResult = {ArgKind::kNumberOut, false};
constexpr ArgSpec kTensorToNumber[] = {kTensor, kResult};
constexpr ArgSpec kNumelArgs[] = {kAnyTensor, kResult};
constexpr ArgSpec kSymSizeArgs[] = {kAnyTensor, kInt, kResult};
constexpr ArgSpec kViewArgs[] = {
    kTensor, {ArgKind::kIntList, false}, {ArgKind::kAliasTensor, false}};
constexpr ArgSpec kCopyIndexArgs[] = {{ArgKind::kMutableTensor, false}, kTensor, kInt};

}  // namespace

extern const Kernel kPrimSymSizeInt;
const Kernel kPrimSymSizeInt = {"aten::sym_size.int", sym_size, kSymSizeArgs, 3};
extern const Kernel kPrimSymNumel;
const Kernel kPrimSymNumel = {"aten::sym_numel", sym_numel, kNumelArgs, 2};
extern const Kernel kPrimLocalScalarDense;
const Kernel kPrimLocalScalarDense = {"aten::_local_scalar_dense", local_scalar_dense,
                                      kTensorToNumber, 2};
extern const Kernel kPrimEtView;
const Kernel kPrimEtView = {"executorch_prim::et_view.default", et_view, kViewArgs, 3};
extern const Kernel kPrimEtCopyIndex;
const Kernel kPrimEtCopyIndex = {"executorch_prim::et_copy_index.tensor", et_copy_index,
                                 kCopyIndexArgs, 3};

}  // namespace taper::portable
