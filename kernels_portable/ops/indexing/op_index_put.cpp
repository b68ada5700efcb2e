// aten::index_put_ and index_put.out: values written to the slices that index tensors select.
//
//   accumulate  adds instead; a slice selected twice gets both values. Integers wrap around.

#include <algorithm>

#include "kernels_portable/cores/indexing.h"
#include "kernels_portable/engine/arith.h"
#include "kernels_portable/engine/convert.h"

namespace taper::portable {
namespace {

// Adds a slice of values to a slice of self, element by element.
template <typename C>
void add_slice(const LoopNest& nest, ScalarType type, void* to, const void* from) {
  const LoadFunction<C> load = loader<C>(type);
  const StoreFunction<C> store = storer<C>(type);
  constexpr int64_t kChunk = 64;
  nest.for_each_run([&](const int64_t* offsets, int64_t count) {
    C sums[kChunk];
    C terms[kChunk];
    for (int64_t i = 0; i < count; i += kChunk) {
      const int64_t length = count - i < kChunk ? count - i : kChunk;
      void* target = element(to, offsets[0] + i * nest.inner_stride(0), type);
      load(target, nest.inner_stride(0), length, sums);
      load(element(from, offsets[1] + i * nest.inner_stride(1), type), nest.inner_stride(1), length,
           terms);
      for (int64_t j = 0; j < length; ++j) sums[j] = wrap_add(sums[j], terms[j]);
      store(sums, length, target, nest.inner_stride(0));
    }
  });
}

using AddSlice = void (*)(const LoopNest&, ScalarType, void*, const void*);

AddSlice slice_adder(ScalarType type) {
  if (in_double(type)) return add_slice<double>;
  return in_float(type) ? add_slice<float> : add_slice<int64_t>;
}

// `values`, broadcast to the sizes of `result`.
Status broadcast_values(const Tensor& values, const View& result, View* view) {
  const View from = view_of(values);
  TAPER_REQUIRE(from.rank <= result.rank, Error::kInvalidArgument,
                "index_put: values has too many dimensions");
  const size_t missing = result.rank - from.rank;
  for (size_t d = 0; d < from.rank; ++d) {
    TAPER_REQUIRE(from.sizes[d] == 1 || from.sizes[d] == result.sizes[missing + d],
                  Error::kInvalidArgument, "index_put: values does not broadcast to the slices");
  }
  *view = broadcast_view(from, result);
  return {};
}

Status index_put_(KernelContext&, Tensor& self, OptionalTensorList indices, const Tensor& values,
                  bool accumulate) {
  TAPER_REQUIRE(values.scalar_type() == self.scalar_type(), Error::kInvalidArgument,
                "index_put: values must have the dtype of self");
  Indexing indexing;
  TAPER_TRY(indexing.init(self, indices));
  View from;
  TAPER_TRY(broadcast_values(values, indexing.result(), &from));
  if (from.is_empty()) return {};
  const ScalarType type = self.scalar_type();
  const SliceCopy copy(indexing.slice(), indexing.slice_of(from), element_size(type));
  const AddSlice add = slice_adder(type);
  Cursor batch(indexing.batch_of(from));
  int64_t offsets[Indexing::kLine];
  for (int64_t left = indexing.batch_count(), count = 0; left > 0; left -= count) {
    count = std::min(batch.left(), Indexing::kLine);
    TAPER_TRY(indexing.next(count, offsets));
    for (int64_t i = 0; i < count; ++i) {
      void* to = element(self.mutable_data(), offsets[i], type);
      const void* source = element(from.data, batch.offset() + i * batch.stride(), type);
      if (accumulate) {
        add(copy.nest(), type, to, source);
      } else {
        copy(to, source);
      }
    }
    batch.advance(count);
  }
  return {};
}

Status index_put(KernelContext& context, const Tensor& self, OptionalTensorList indices,
                 const Tensor& values, bool accumulate, Tensor& out) {
  TAPER_REQUIRE(out.scalar_type() == self.scalar_type(), Error::kInvalidArgument,
                "index_put: out must have the dtype of self");
  TAPER_TRY(write_view(view_of(self), out));
  return index_put_(context, out, indices, values, accumulate);
}

}  // namespace

extern const Kernel kIndexPut;
const Kernel kIndexPut = make_kernel<index_put_>("aten::index_put_");
extern const Kernel kIndexPutOut;
const Kernel kIndexPutOut = make_kernel<index_put>("aten::index_put.out");

}  // namespace taper::portable
