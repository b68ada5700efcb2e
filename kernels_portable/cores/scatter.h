// Loops over an index tensor whose values select positions along one dimension of another tensor:
// what gather and the scatters share.

#pragma once

#include "kernels_portable/cores/indexing.h"
#include "kernels_portable/engine/strided.h"
#include "taper/kernel.h"

namespace taper::portable {

// For every element of `index`, pairs a position in `table` (the element's coordinates, with the
// one along `dim` replaced by the index) with the element's coordinates in `other`.
class PickLoops {
 public:
  // Checks the dtypes and sizes: `index` is no larger than `other`, nor than `table` except along
  // `dim`. A 0-d tensor counts as a vector of one.
  Status init(const Tensor& table, int64_t dim, const Tensor& index, const View& other);

  // Calls visit(table offsets, other offset, other stride, count), all in elements. An index out of
  // range is an error.
  template <typename Visit>
  Status for_each_chunk(Visit&& visit) const {
    Status status;
    nest_.for_each_run([&](const int64_t* offsets, int64_t count) {
      int64_t picked[kChunk];
      const int64_t stride = nest_.inner_stride(kOther);
      for (int64_t i = 0; i < count && status.ok(); i += kChunk) {
        const int64_t length = count - i < kChunk ? count - i : kChunk;
        status = pick(offsets, i, length, picked);
        if (status.ok()) visit(picked, offsets[kOther] + i * stride, stride, length);
      }
    });
    return status;
  }

 private:
  enum { kOther = 0, kIndex = 1, kTable = 2 };
  static constexpr int64_t kChunk = 128;

  Status pick(const int64_t* offsets, int64_t first, int64_t count, int64_t* picked) const;

  LoopNest nest_;
  const void* index_data_ = nullptr;
  ScalarType index_type_ = ScalarType::kLong;
  int64_t limit_ = 0;   // The size of the table along `dim`.
  int64_t stride_ = 0;  // The stride of the table along `dim`.
};

}  // namespace taper::portable
