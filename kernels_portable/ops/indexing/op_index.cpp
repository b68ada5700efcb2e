// aten::index.Tensor_out: the slices of self that index tensors select. index_select.out: the same
// along one dimension. embedding.out: rows of a table.
//
//   Indices  int32 or int64, checked against the size of their dimension. Only index takes negative
//            indices and masks.

#include <algorithm>

#include "kernels_portable/cores/indexing.h"
#include "kernels_portable/engine/dims.h"

namespace taper::portable {
namespace {

// Writes self[indices] to `out`.
Status write_indexed(const Tensor& self, Indexing* indexing, Tensor& out) {
  TAPER_REQUIRE(out.scalar_type() == self.scalar_type(), Error::kInvalidArgument,
                "index: out must have the dtype of self");
  const View result = indexing->result();
  TAPER_TRY(resize_out(out, result.sizes, result.rank));
  if (out.numel() == 0) return {};
  const View to = view_of(out);
  const size_t size = element_size(out.scalar_type());
  const SliceCopy copy(indexing->slice_of(to), indexing->slice(), size);
  const int64_t bytes = static_cast<int64_t>(size);
  const char* from = static_cast<const char*>(self.const_data());
  Cursor batch(indexing->batch_of(to));
  int64_t offsets[Indexing::kLine];
  for (int64_t left = indexing->batch_count(), count = 0; left > 0; left -= count) {
    count = std::min(batch.left(), Indexing::kLine);
    TAPER_TRY(indexing->next(count, offsets));
    char* line = to.data + batch.offset() * bytes;
    for (int64_t i = 0; i < count; ++i) {
      copy(line + i * batch.stride() * bytes, from + offsets[i] * bytes);
    }
    batch.advance(count);
  }
  return {};
}

Status index(KernelContext&, const Tensor& self, OptionalTensorList indices, Tensor& out) {
  Indexing indexing;
  TAPER_TRY(indexing.init(self, indices));
  return write_indexed(self, &indexing, out);
}

Status embedding(KernelContext&, const Tensor& weight, const Tensor& indices, int64_t, bool, bool,
                 Tensor& out) {
  TAPER_REQUIRE(weight.dim() == 2 && is_index_type(indices.scalar_type()), Error::kInvalidArgument,
                "embedding: weight must be a matrix, indices int32 or int64");
  Tensor* const list[] = {const_cast<Tensor*>(&indices)};
  Indexing indexing;
  TAPER_TRY(indexing.init(weight, {{list, 1}}, false));
  return write_indexed(weight, &indexing, out);
}

Status index_select(KernelContext&, const Tensor& self, int64_t dim, const Tensor& index,
                    Tensor& out) {
  int64_t d = 0;
  TAPER_TRY(wrap_dim(dim, self.dim(), &d));
  TAPER_REQUIRE(index.dim() <= 1 && is_index_type(index.scalar_type()), Error::kInvalidArgument,
                "index_select: index must be a vector of int32 or int64");
  int32_t size = static_cast<int32_t>(index.numel());  // A 0-d index counts as a vector of one.
  int32_t stride = 1;
  uint8_t order = 0;
  Tensor vector(index.scalar_type(), 1, &size, &order, &stride, index.mutable_data());
  Tensor* list[kMaxRank] = {};
  list[d] = &vector;
  Indexing indexing;
  if (self.dim() > 0) {
    TAPER_TRY(indexing.init(self, {{list, static_cast<size_t>(d) + 1}}, false));
    return write_indexed(self, &indexing, out);
  }
  TAPER_REQUIRE(size == 1 && read_index(index.const_data(), index.scalar_type()) == 0,
                Error::kInvalidArgument, "index_select: an index is outside of its dimension");
  TAPER_TRY(indexing.init(self, {}, false));
  return write_indexed(self, &indexing, out);
}

}  // namespace

extern const Kernel kIndexTensorOut;
const Kernel kIndexTensorOut = make_kernel<index>("aten::index.Tensor_out");
extern const Kernel kIndexSelectOut;
const Kernel kIndexSelectOut = make_kernel<index_select>("aten::index_select.out");
extern const Kernel kEmbeddingOut;
const Kernel kEmbeddingOut = make_kernel<embedding>("aten::embedding.out");

}  // namespace taper::portable
